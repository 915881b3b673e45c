/** Values of a template as Python has them: int is a bigint, float a number, None null, str a `Str`. */
import { refuse, typeError } from './errors.ts';
import type { Run } from './run.ts';
import { isStr, plain, type Str } from './text.ts';

export type Value =
  | null
  | boolean
  | bigint
  | number
  | Str
  | Escaped
  | PyList
  | PyTuple
  | PyDict
  | PyRange
  | PyView
  | PyIterator
  | Undefined
  | PyObject
  | PyFunction;

/** A text that is safe HTML (markupsafe's Markup). It can be printed, joined with `~`, and compared. */
export class Escaped {
  readonly text: Str;
  constructor(text: Str) {
    this.text = text;
  }
}

export class PyList {
  readonly items: readonly Value[];
  constructor(items: readonly Value[]) {
    this.items = items;
  }
}

export class PyTuple {
  readonly items: readonly Value[];
  /** The names of a named tuple's fields. */
  readonly fields: readonly string[];
  constructor(items: readonly Value[], fields: readonly string[] = []) {
    this.items = items;
    this.fields = fields;
  }
}

export class PyRange {
  readonly start: bigint;
  readonly stop: bigint;
  readonly step: bigint;
  readonly length: number;
  constructor(start: bigint, stop: bigint, step: bigint) {
    this.start = start;
    this.stop = stop;
    this.step = step;
    const count = step > 0n ? (stop - start + step - 1n) / step : (start - stop - step - 1n) / -step;
    this.length = Number(count > 0n ? count : 0n);
  }
  at(index: number): bigint {
    return this.start + BigInt(index) * this.step;
  }
}

/** A generator or iterator, which can be read once. */
export class PyIterator {
  readonly kind: string;
  readonly iterator: Iterator<Value>;
  constructor(kind: string, iterator: Iterator<Value>) {
    this.kind = kind;
    this.iterator = iterator;
  }
}

/** A dict's keys(), values() or items(). */
export class PyView {
  readonly kind: 'keys' | 'values' | 'items';
  readonly of: PyDict;
  constructor(kind: PyView['kind'], of: PyDict) {
    this.kind = kind;
    this.of = of;
  }
  list(): Value[] {
    const entries = [...this.of.entries()];
    if (this.kind === 'items') return entries.map(([key, value]) => new PyTuple([key, value]));
    return entries.map(([key, value]) => (this.kind === 'keys' ? key : value));
  }
}

export class PyDict {
  readonly #map = new Map<string, readonly [Value, Value]>();

  constructor(entries: Iterable<readonly [Value, Value]> = []) {
    for (const [key, value] of entries) this.set(key, value);
  }
  get size(): number {
    return this.#map.size;
  }
  get(key: Value): Value | undefined {
    return this.#map.get(keyOf(key))?.[1];
  }
  entries(): Iterable<readonly [Value, Value]> {
    return this.#map.values();
  }
  keys(): Value[] {
    return [...this.#map.values()].map(([key]) => key);
  }
  /** For the maker of a dict alone: templates can't change one. An equal key stays as it was first. */
  set(key: Value, value: Value): void {
    const hash = keyOf(key);
    this.#map.set(hash, [this.#map.get(hash)?.[0] ?? key, value]);
  }
}

/** Why a value is undefined, for the error of those who use it. */
export class Undefined {
  readonly why: string;
  constructor(why: string) {
    this.why = why;
  }
}

/** An object of Jinja's own: a loop, a namespace, a cycler. */
export interface PyObject {
  readonly kind: 'loop' | 'namespace' | 'cycler';
  attribute(name: string): Value | undefined;
  /** What it prints; null: an address, which differs from run to run. */
  print(run: Run): Str | null;
  call?(args: readonly Value[], named: Named, run: Run): Value;
  /** Its items, where it is iterable. */
  readonly size?: () => number;
}

export type Named = ReadonlyMap<string, Value>;

export class PyFunction {
  readonly name: string;
  readonly call: (args: readonly Value[], named: Named, run: Run) => Value;
  readonly isMacro: boolean;
  readonly attributes: Readonly<Record<string, Value>>;
  constructor(name: string, call: PyFunction['call'], isMacro = false, attributes: PyFunction['attributes'] = {}) {
    this.name = name;
    this.call = call;
    this.isMacro = isMacro;
    this.attributes = attributes;
  }
}

export function isObject(value: Value): value is PyObject {
  return typeof value === 'object' && value !== null && 'attribute' in value;
}

/** What makes keys of a dict or members of a set equal. */
export function keyOf(value: Value): string {
  if (isStr(value)) return `s${plain(value)}`;
  if (value instanceof Escaped) return `s${plain(value.text)}`;
  if (typeof value === 'boolean') return `n${Number(value)}`;
  if (typeof value === 'bigint') return `n${value}`;
  if (typeof value === 'number') return `n${Number.isInteger(value) ? BigInt(value) : value}`;
  if (value === null) return 'None';
  if (value instanceof PyTuple) return keyOfTuple(value);
  if (value instanceof Undefined) return 'u';
  if (value instanceof PyList || value instanceof PyDict) return typeError(`unhashable type: '${typeName(value)}'`);
  return refuse(`a ${typeName(value)} as a key`);
}

const LONGEST_KEY = 100_000;

/** Each part with its length, so that no two lists of parts look alike. */
function keyOfTuple({ items }: PyTuple): string {
  let key = 't';
  for (const item of items) {
    const part = keyOf(item);
    key += `${part.length}:${part}`;
    if (key.length > LONGEST_KEY) refuse('so long a key');
  }
  return key;
}

export function typeName(value: Value): string {
  if (value === null) return 'NoneType';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'number') return 'float';
  if (isStr(value)) return 'str';
  if (value instanceof Escaped) return 'Markup';
  if (value instanceof PyList) return 'list';
  if (value instanceof PyTuple) return 'tuple';
  if (value instanceof PyDict) return 'dict';
  if (value instanceof PyRange) return 'range';
  if (value instanceof PyView) return `dict_${value.kind}`;
  if (value instanceof PyIterator) return value.kind;
  if (value instanceof Undefined) return 'Undefined';
  if (value instanceof PyFunction) return value.isMacro ? 'Macro' : 'function';
  return value.kind;
}
