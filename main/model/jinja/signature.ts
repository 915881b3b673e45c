/** Arguments of built-in functions, by position and by name. */
import { wholeOf } from './compare.ts';
import { refuse, typeError } from './errors.ts';
import type { Run } from './run.ts';
import { isStr, type Str } from './text.ts';
import { Escaped, type Named, typeName, type Value } from './values.ts';

/** What was given for each parameter; undefined: nothing. */
export type Given = readonly (Value | undefined)[];

/** A built-in that belongs to a value: a method, a filter or a test. */
export interface Builtin<Self> {
  /** Its parameters; with `?` they may be left out, and after `/` they have names. */
  readonly params: string;
  readonly call: (self: Self, given: Given, run: Run) => Value;
}

/** Puts arguments into the order of the parameters. */
export function bind(name: string, params: string, args: readonly Value[], named: Named): Given {
  const [positional = '', free = ''] = params.includes('/') ? params.split('/') : ['', params];
  const wordsOf = (text: string): string[] => text.split(' ').filter((word) => word !== '');
  const all = [...wordsOf(positional), ...wordsOf(free)];
  if (args.length > all.length) typeError(`${name}() takes at most ${all.length} arguments (${args.length} given)`);
  const given: (Value | undefined)[] = all.map((_, i) => args[i]);
  for (const [key, value] of named) {
    const at = all.findIndex((word) => word.replace('?', '') === key);
    if (at < wordsOf(positional).length) typeError(`${name}() got an unexpected keyword argument '${key}'`);
    if (at < args.length) typeError(`${name}() got multiple values for argument '${key}'`);
    given[at] = value;
  }
  const missing = all.find((word, i) => !word.endsWith('?') && given[i] === undefined);
  if (missing !== undefined) typeError(`${name}() missing a required argument: '${missing}'`);
  return given;
}

/** An argument that has to be a text. */
export function textArgument(value: Value | undefined, name: string): Str {
  if (value !== undefined && isStr(value)) return value;
  if (value instanceof Escaped) return refuse(`an escaped text as an argument of ${name}()`);
  return typeError(`${name}() argument must be str, not ${typeName(value ?? null)}`);
}

/** An argument that has to be a whole number, within what lists and texts can have. */
export function wholeArgument(value: Value | undefined, otherwise: number): number {
  if (value === undefined) return otherwise;
  const whole = wholeOf(value) ?? typeError(`'${typeName(value)}' object cannot be interpreted as an integer`);
  return Number(whole > 2n ** 40n ? 2n ** 40n : whole < -(2n ** 40n) ? -(2n ** 40n) : whole);
}
