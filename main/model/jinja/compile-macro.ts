/** Macros, call blocks and `{% generation %}`. After Macro of jinja2/runtime.py. */
import { compileCall, compileExpression } from './compile-expression.ts';
import { typeError } from './errors.ts';
import { callFrame, type Exec, entering, type Frame, ownerOf, print, type Scope } from './frame.ts';
import { syntaxError } from './lexer.ts';
import type { CallBlock, Macro, Statement } from './nodes.ts';
import { blockText, toText } from './print.ts';
import { FunctionScope, Symbols } from './scopes.ts';
import { concat, type Str } from './text.ts';
import { type Named, PyDict, PyFunction, PyTuple, Undefined, type Value } from './values.ts';
import { undeclared } from './walk.ts';

type CompileBody = (body: readonly Statement[], scope: Scope) => Exec;

export function compileMacro(node: Macro, scope: Scope, compileBody: CompileBody): Exec {
  const make = compileFunction(node, node.name, scope, compileBody);
  const ref = scope.symbols.ref(node.name);
  const owner = ownerOf(ref, scope.symbols.scope);
  return (frame) => {
    owner(frame).slots[ref.slot] = make(frame);
    return undefined;
  };
}

export function compileCallBlock(node: CallBlock, scope: Scope, compileBody: CompileBody): Exec {
  const make = compileFunction(node, '', scope, compileBody);
  if (node.call === null)
    return (frame, out) => print(toText(make(frame).call([], new Map(), frame.run), frame.run), frame, out);
  const call = compileCall(node.call, scope, make);
  return (frame, out) => {
    frame.run.line = node.line;
    return print(blockText(call(frame)), frame, out);
  };
}

/** What a macro is called with beyond its parameters, where its body reads it. */
interface Extras {
  readonly caller: number | null;
  readonly kwargs: number | null;
  readonly varargs: number | null;
}

function compileFunction(
  node: Macro | CallBlock,
  name: string,
  outer: Scope,
  compileBody: CompileBody,
): (frame: Frame) => PyFunction {
  const symbols = new Symbols(new FunctionScope(outer.symbols.scope), outer.symbols);
  symbols.visitMacro(node);
  const names = node.params.map((param) => param.name);
  const asked = undeclared(node.body, ['caller', 'kwargs', 'varargs']);
  const extra = (word: string): number | null =>
    asked.has(word) && !names.includes(word) ? symbols.declare(word).slot : null;
  const extras: Extras = { caller: extra('caller'), kwargs: extra('kwargs'), varargs: extra('varargs') };
  const explicit = names.indexOf('caller');
  if (asked.has('caller') && explicit >= 0 && explicit < names.length - node.defaults.length)
    syntaxError('the special "caller" argument must be omitted or be given a default', node.line);
  symbols.visitMacro(node);
  const scope: Scope = { symbols, soft: false, inLoop: false, reads: outer.reads };
  const slots = node.params.map((param) => symbols.ref(param.name).slot);
  const defaults = node.defaults.map((value) => compileExpression(value, scope));
  const enter = entering(scope);
  const body = compileBody(node.body, scope);
  const accepts = { names, explicit: explicit >= 0, caller: asked.has('caller'), name };
  return (outside) =>
    new PyFunction(
      name,
      (args, named) => {
        const given = takeArguments(args, named, accepts, extras);
        const frame = callFrame(outside);
        slots.forEach((slot, i) => {
          frame.slots[slot] = given.values[i];
        });
        for (const [slot, value] of given.extras) frame.slots[slot] = value;
        enter(frame);
        slots.forEach((slot, i) => {
          if (frame.slots[slot] !== undefined) return;
          const otherwise = defaults[i - (slots.length - defaults.length)];
          frame.slots[slot] = otherwise?.(frame) ?? absent(otherwise, names[i] ?? '');
        });
        const parts: Str[] = [];
        body(frame, parts);
        return concat(parts);
      },
      true,
      name === '' ? {} : { name },
    );
}

function absent(otherwise: unknown, name: string): Value {
  return otherwise === undefined ? new Undefined(`parameter '${name}' was not provided`) : null;
}

interface Accepts {
  readonly name: string;
  readonly names: readonly string[];
  /** Whether it has a parameter "caller", and whether its body reads one. */
  readonly explicit: boolean;
  readonly caller: boolean;
}

function takeArguments(
  args: readonly Value[],
  named: Named,
  { name, names, explicit, caller }: Accepts,
  extras: Extras,
) {
  const left = new Map(named);
  const values: (Value | undefined)[] = args.slice(0, names.length);
  let foundCaller = values.length === names.length && explicit;
  for (const param of names.slice(values.length)) {
    values.push(left.get(param));
    left.delete(param);
    if (param === 'caller') foundCaller = true;
  }
  const more: (readonly [number, Value])[] = [];
  if (caller && !foundCaller) {
    const given = left.get('caller') ?? null;
    left.delete('caller');
    if (extras.caller !== null) more.push([extras.caller, given ?? new Undefined('No caller defined')]);
  }
  if (extras.kwargs !== null) more.push([extras.kwargs, new PyDict(left)]);
  else if (left.size > 0) typeError(`macro '${name}' takes no keyword argument '${[...left.keys()][0]}'`);
  if (extras.varargs !== null) more.push([extras.varargs, new PyTuple(args.slice(names.length))]);
  else if (args.length > names.length) typeError(`macro '${name}' takes not more than ${names.length} argument(s)`);
  return { values, extras: more };
}
