/** Equality and order, as Python has them. */
import { PyError, refuse, typeError } from './errors.ts';
import type { Run } from './run.ts';
import { isStr, plain } from './text.ts';
import {
  Escaped,
  PyDict,
  PyIterator,
  PyList,
  PyRange,
  PyTuple,
  PyView,
  typeName,
  Undefined,
  type Value,
} from './values.ts';

type Number_ = boolean | bigint | number;

export function isNumber(value: Value): value is Number_ {
  return typeof value === 'boolean' || typeof value === 'bigint' || typeof value === 'number';
}

/** The whole number of an int or bool. */
export function wholeOf(value: Value): bigint | null {
  if (typeof value === 'bigint') return value;
  return typeof value === 'boolean' ? BigInt(value) : null;
}

/** Python's float() of a number. */
export function floatOf(value: boolean | bigint | number): number {
  const float = Number(value);
  if (Number.isFinite(float) || typeof value === 'number') return float;
  throw new PyError('OverflowError', 'int too large to convert to float');
}

function textOf(value: Value): string | null {
  if (isStr(value)) return plain(value);
  return value instanceof Escaped ? plain(value.text) : null;
}

export function equals(a: Value, b: Value, run: Run): boolean {
  run.step();
  if (isNumber(a) && isNumber(b)) return numbersEqual(number(a), number(b));
  const [one, other] = [textOf(a), textOf(b)];
  if (one !== null && other !== null) {
    if (one.length !== other.length) return false;
    run.read(one.length);
    return one === other;
  }
  if (a === b) return true;
  if (a instanceof Undefined || b instanceof Undefined) return a instanceof Undefined && b instanceof Undefined;
  if ((a instanceof PyList && b instanceof PyList) || (a instanceof PyTuple && b instanceof PyTuple))
    return run.nested(
      () => a.items.length === b.items.length && a.items.every((item, i) => sameOrEqual(item, b.items[i] ?? null, run)),
    );
  if (a instanceof PyDict && b instanceof PyDict) return run.nested(() => equalDicts(a, b, run));
  if (a instanceof PyRange && b instanceof PyRange)
    return a.length === b.length && (a.length === 0 || (a.start === b.start && (a.length === 1 || a.step === b.step)));
  if (a instanceof PyView && b instanceof PyView && a.kind !== 'values') refuse('comparing views of a dict');
  return false;
}

/** Whole numbers and floats are equal by value. */
function numbersEqual(a: bigint | number, b: bigint | number): boolean {
  return !(a < b) && !(a > b) && !Number.isNaN(a) && !Number.isNaN(b);
}

function number(value: Number_): bigint | number {
  return typeof value === 'boolean' ? BigInt(value) : value;
}

/** Lists compare by identity first. */
function sameOrEqual(a: Value, b: Value, run: Run): boolean {
  return a === b || equals(a, b, run);
}

function equalDicts(a: PyDict, b: PyDict, run: Run): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a.entries()) {
    const other = b.get(key);
    if (other === undefined || !sameOrEqual(value, other, run)) return false;
  }
  return true;
}

/** `a < b` and the other three. */
export function isOrdered(a: Value, operator: '<' | '<=' | '>' | '>=', b: Value, run: Run): boolean {
  run.step();
  for (const value of [a, b]) if (value instanceof Undefined) throw new PyError('UndefinedError', value.why);
  if (isNumber(a) && isNumber(b)) {
    const [left, right] = [number(a), number(b)];
    if (Number.isNaN(left) || Number.isNaN(right)) return false;
    return holds(left < right ? -1 : left > right ? 1 : 0, operator);
  }
  const [one, other] = [textOf(a), textOf(b)];
  if (one !== null && other !== null) {
    run.read(one.length);
    return holds(byPoint(one, other), operator);
  }
  if ((a instanceof PyList && b instanceof PyList) || (a instanceof PyTuple && b instanceof PyTuple))
    return run.nested(() => {
      const at = a.items.findIndex((item, i) => i >= b.items.length || !sameOrEqual(item, b.items[i] ?? null, run));
      if (at < 0 || at >= b.items.length) return holds(Math.sign(a.items.length - b.items.length), operator);
      return isOrdered(a.items[at] ?? null, operator, b.items[at] ?? null, run);
    });
  if (a instanceof PyView || b instanceof PyView || a instanceof PyIterator) refuse('ordering views of a dict');
  return typeError(`'${operator}' not supported between instances of '${typeName(a)}' and '${typeName(b)}'`);
}

function holds(sign: number, operator: '<' | '<=' | '>' | '>='): boolean {
  if (operator === '<') return sign < 0;
  if (operator === '<=') return sign <= 0;
  return operator === '>' ? sign > 0 : sign >= 0;
}

/** Texts by code point: JavaScript's own order puts the emoji before U+FB01. */
function byPoint(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [one, other] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (one !== other) return rank(one) - rank(other);
  }
  return a.length - b.length;
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** Python's stable sort by keys. */
export function sortedBy(items: readonly Value[], key: (item: Value) => Value, reverse: boolean, run: Run): Value[] {
  run.items(items.length);
  const keyed = items.map((item) => [key(item), item] as const);
  // A reversed sort keeps the order of equals, too.
  const sign = reverse ? -1 : 1;
  const compare = (a: Value, b: Value): number => (isOrdered(a, '<', b, run) ? -1 : isOrdered(b, '<', a, run) ? 1 : 0);
  return keyed.sort(([a], [b]) => sign * compare(a, b)).map(([, item]) => item);
}
