/** Jinja's tests (`is defined`). After jinja2/tests.py. */
import { equals, isNumber, isOrdered } from './compare.ts';
import { refuse } from './errors.ts';
import { contains, isIterable } from './iterate.ts';
import { arithmetic } from './operators.ts';
import { toText } from './print.ts';
import type { Run } from './run.ts';
import { isStr, plain } from './text.ts';
import { CHARACTER_TESTS } from './unicode.ts';
import { Escaped, isObject, PyDict, PyFunction, PyList, PyRange, PyTuple, Undefined, type Value } from './values.ts';

interface Test {
  readonly params: string;
  readonly holds: (value: Value, other: Value, run: Run) => boolean;
}

const simple = (holds: (value: Value, run: Run) => boolean): Test => ({
  params: '',
  holds: (value, _, run) => holds(value, run),
});
const ordered = (operator: '<' | '<=' | '>' | '>='): Test => ({
  params: 'other /',
  holds: (value, other, run) => isOrdered(value, operator, other, run),
});
const equal: Test = { params: 'other /', holds: (value, other, run) => equals(value, other, run) };
const unequal: Test = { params: 'other /', holds: (value, other, run) => !equals(value, other, run) };
const modulo = (value: Value, by: Value, rest: bigint, run: Run): boolean =>
  equals(arithmetic('%', value, by, run), rest, run);

/** Whether the two are one object. */
function isSame(value: Value, other: Value): boolean {
  const decided = (one: Value): boolean => one === null || typeof one === 'boolean';
  if (decided(value) || decided(other)) return value === other;
  if (typeof value === typeof other && typeof value !== 'object' && value === other)
    return refuse('"is sameas" of numbers and texts');
  if (value instanceof PyTuple && value.items.length === 0) return refuse('"is sameas" of tuples');
  return value === other;
}

export const TESTS: ReadonlyMap<string, Test> = new Map<string, Test>([
  ['odd', simple((value, run) => modulo(value, 2n, 1n, run))],
  ['even', simple((value, run) => modulo(value, 2n, 0n, run))],
  ['divisibleby', { params: 'num', holds: (value, num, run) => modulo(value, num, 0n, run) }],
  ['defined', simple((value) => !(value instanceof Undefined))],
  ['undefined', simple((value) => value instanceof Undefined)],
  ['none', simple((value) => value === null)],
  ['boolean', simple((value) => typeof value === 'boolean')],
  ['false', simple((value) => value === false)],
  ['true', simple((value) => value === true)],
  ['integer', simple((value) => typeof value === 'bigint')],
  ['float', simple((value) => typeof value === 'number')],
  ['lower', simple((value, run) => CHARACTER_TESTS.islower?.(plain(toText(value, run))) === true)],
  ['upper', simple((value, run) => CHARACTER_TESTS.isupper?.(plain(toText(value, run))) === true)],
  ['string', simple((value) => isStr(value) || value instanceof Escaped)],
  ['mapping', simple((value) => value instanceof PyDict)],
  ['number', simple(isNumber)],
  ['sequence', simple(isSequence)],
  ['iterable', simple((value) => isIterable(value) || (isObject(value) && value.kind === 'loop'))],
  [
    'callable',
    simple(
      (value) =>
        value instanceof PyFunction || value instanceof Undefined || (isObject(value) && value.call !== undefined),
    ),
  ],
  ['sameas', { params: 'other', holds: isSame }],
  ['escaped', simple((value) => value instanceof Escaped)],
  ['in', { params: 'seq', holds: (value, seq, run) => contains(seq, value, run) }],
  ...['==', 'eq', 'equalto'].map((name) => [name, equal] as const),
  ...['!=', 'ne'].map((name) => [name, unequal] as const),
  ...['>', 'gt', 'greaterthan'].map((name) => [name, ordered('>')] as const),
  ...['>=', 'ge'].map((name) => [name, ordered('>=')] as const),
  ...['<', 'lt', 'lessthan'].map((name) => [name, ordered('<')] as const),
  ...['<=', 'le'].map((name) => [name, ordered('<=')] as const),
]);

function isSequence(value: Value): boolean {
  if (isStr(value) || value instanceof Escaped || value instanceof Undefined) return true;
  return value instanceof PyList || value instanceof PyTuple || value instanceof PyDict || value instanceof PyRange;
}
