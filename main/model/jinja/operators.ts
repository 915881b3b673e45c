/** Arithmetic and slices, as Python has them. */
import { floatOf, isNumber, wholeOf } from './compare.ts';
import { PyError, refuse, typeError } from './errors.ts';
import { formatPercent } from './format-percent.ts';
import type { Arithmetic } from './nodes.ts';
import { joined } from './print.ts';
import type { Run } from './run.ts';
import { concat, isStr, lengthOf, plain, pointsOf, type Str, slice as sliceText } from './text.ts';
import { Escaped, PyList, PyRange, PyTuple, typeName, Undefined, type Value } from './values.ts';

export function arithmetic(operator: Arithmetic, left: Value, right: Value, run: Run): Value {
  run.step();
  if (operator === '%' && isStr(left)) return formatPercent(left, right, run);
  for (const value of [left, right]) {
    if (value instanceof Undefined) throw new PyError('UndefinedError', value.why);
    if (value instanceof Escaped) refuse(`"${operator}" with an escaped text`);
  }
  if (isNumber(left) && isNumber(right)) return calculate(operator, left, right, run);
  if (operator === '+') {
    if (isStr(left) && isStr(right)) return joined([left, right], run);
    if (left instanceof PyList && right instanceof PyList) {
      run.items(left.items.length + right.items.length);
      return new PyList([...left.items, ...right.items]);
    }
    if (left instanceof PyTuple && right instanceof PyTuple) {
      run.items(left.items.length + right.items.length);
      return new PyTuple([...left.items, ...right.items]);
    }
  }
  if (operator === '*') {
    const [sequence, times] = wholeOf(right) === null ? [right, wholeOf(left)] : [left, wholeOf(right)];
    if (times !== null && (isStr(sequence) || sequence instanceof PyList || sequence instanceof PyTuple))
      return repeated(sequence, times, run);
  }
  return typeError(`unsupported operand type(s) for ${operator}: '${typeName(left)}' and '${typeName(right)}'`);
}

function repeated(sequence: Str | PyList | PyTuple, times: bigint, run: Run): Value {
  if (times >= 2n ** 63n || times < -(2n ** 63n))
    throw new PyError('OverflowError', "cannot fit 'int' into an index-sized integer");
  const length = isStr(sequence) ? plain(sequence).length : 8 * sequence.items.length;
  const count = times > 0n && length > 0 ? times : 0n;
  run.size(Number(count) * length);
  const copies = Number(count);
  if (typeof sequence === 'string') return sequence.repeat(copies);
  if (isStr(sequence)) return concat(Array.from({ length: copies }, () => sequence));
  const items = Array.from({ length: copies }, () => sequence.items).flat();
  return sequence instanceof PyList ? new PyList(items) : new PyTuple(items);
}

function calculate(
  operator: Arithmetic,
  left: boolean | bigint | number,
  right: boolean | bigint | number,
  run: Run,
): Value {
  const [a, b] = [wholeOf(left), wholeOf(right)];
  if (a !== null && b !== null) return calculateWhole(operator, a, b, run);
  if (operator === '**') return refuse('a power with fractions');
  return calculateFloat(operator, floatOf(left), floatOf(right));
}

/** Digits of more than this number of bits are refused. */
const MOST_BITS = 100_000;

function bits(value: bigint): number {
  return value.toString(16).length * 4;
}

function calculateWhole(operator: Arithmetic, a: bigint, b: bigint, run: Run): Value {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return bounded(bits(a) + bits(b), () => a * b, run);
    case '**':
      if (b < 0n) return refuse('a power with fractions');
      if (a === 0n || a === 1n || a === -1n) return a ** (b === 0n ? 0n : 2n - (b % 2n));
      return bounded(bits(a) * Number(b), () => a ** b, run);
    default:
      break;
  }
  if (b === 0n) throw new PyError('OverflowError', 'division by zero');
  if (operator === '/') {
    const [x, y] = [Number(a), Number(b)];
    return Number.isSafeInteger(x) && Number.isSafeInteger(y) ? x / y : refuse('dividing such large numbers');
  }
  const rest = ((a % b) + b) % b;
  return operator === '%' ? rest : (a - rest) / b;
}

function bounded(size: number, compute: () => bigint, run: Run): bigint {
  if (!(size <= MOST_BITS)) return refuse('such a large number');
  run.size(size / 8);
  return compute();
}

function calculateFloat(operator: Arithmetic, a: number, b: number): number {
  if (operator === '+') return a + b;
  if (operator === '-') return a - b;
  if (operator === '*') return a * b;
  if (b === 0) throw new PyError('OverflowError', 'float division by zero');
  if (operator === '/') return a / b;
  const rest = a % b;
  const mod = rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest === 0 ? Math.sign(b) * 0 : rest;
  if (operator === '%') return mod;
  const quotient = (a - mod) / b;
  const floor = Math.floor(quotient);
  return quotient === 0 ? 0 * (a / b) : quotient - floor > 0.5 ? floor + 1 : floor;
}

export function negate(value: Value, sign: '+' | '-'): Value {
  if (value instanceof Undefined) throw new PyError('UndefinedError', value.why);
  const whole = wholeOf(value);
  if (whole !== null) return sign === '-' ? -whole : whole;
  if (typeof value === 'number') return sign === '-' ? -value : value;
  return typeError(`bad operand type for unary ${sign}: '${typeName(value)}'`);
}

export interface Slice {
  readonly start: Value;
  readonly stop: Value;
  readonly step: Value;
}

/** Python's slice.indices: the first position, the end and the step. */
function indices({ start, stop, step }: Slice, length: number): { first: bigint; end: bigint; by: bigint } {
  const by = step === null ? 1n : bound(step);
  if (by === 0n) throw new PyError('ValueError', 'slice step cannot be zero');
  const size = BigInt(length);
  const clamp = (value: Value, otherwise: bigint): bigint => {
    if (value === null) return otherwise;
    const at = bound(value);
    const from = at < 0n ? at + size : at;
    const [least, most] = by > 0n ? [0n, size] : [-1n, size - 1n];
    return from < least ? least : from > most ? most : from;
  };
  return { first: clamp(start, by > 0n ? 0n : size - 1n), end: clamp(stop, by > 0n ? size : -1n), by };
}

function positions(slice: Slice, length: number): number[] {
  const { first, end, by } = indices(slice, length);
  const list: number[] = [];
  for (let at = first; by > 0n ? at < end : at > end; at += by) list.push(Number(at));
  return list;
}

function bound(value: Value): bigint {
  return wholeOf(value) ?? typeError('slice indices must be integers or None or have an __index__ method');
}

/** `value[start:stop:step]`; undefined where the value has no slices. */
export function sliced(value: Value, slice: Slice, run: Run): Value | undefined {
  if (isStr(value)) {
    run.size(plain(value).length);
    const points = pointsOf(plain(value));
    const at = (index: number): number => points?.[index] ?? index;
    const wanted = positions(slice, lengthOf(value));
    if (slice.step !== null && slice.step !== 1n)
      return joined(
        wanted.map((index) => sliceText(value, at(index), at(index + 1))),
        run,
      );
    return wanted.length === 0 ? '' : sliceText(value, at(wanted[0] ?? 0), at((wanted.at(-1) ?? 0) + 1));
  }
  if (value instanceof PyList || value instanceof PyTuple) {
    const wanted = positions(slice, value.items.length).map((index) => value.items[index] ?? null);
    run.items(wanted.length);
    return value instanceof PyList ? new PyList(wanted) : new PyTuple(wanted);
  }
  if (value instanceof PyRange) {
    const { first, end, by } = indices(slice, value.length);
    return new PyRange(value.at(Number(first)), value.at(Number(end)), value.step * by);
  }
  return undefined;
}
