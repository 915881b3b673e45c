/** Truth, length, items and membership, as Python has them. */

import { equals } from './compare.ts';
import { PyError, refuse, typeError } from './errors.ts';
import type { Run } from './run.ts';
import { charactersOf, isStr, lengthOf, plain } from './text.ts';
import {
  Escaped,
  isObject,
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

export function isTrue(value: Value): boolean {
  if (value === null || value === false || value instanceof Undefined) return false;
  if (value === true) return true;
  if (typeof value === 'bigint') return value !== 0n;
  if (typeof value === 'number') return value !== 0;
  return isStr(value) ? plain(value) !== '' : sizeOf(value) !== 0;
}

/** Python's len(); null where there is none. */
export function sizeOf(value: Value): number | null {
  if (isStr(value)) return lengthOf(value);
  if (value instanceof Escaped) return lengthOf(value.text);
  if (value instanceof PyList || value instanceof PyTuple) return value.items.length;
  if (value instanceof PyDict) return value.size;
  if (value instanceof PyView) return value.of.size;
  if (value instanceof PyRange) return value.length;
  if (value instanceof Undefined) return 0;
  return isObject(value) ? (value.size?.() ?? null) : null;
}

export function length(value: Value): number {
  return sizeOf(value) ?? typeError(`object of type '${typeName(value)}' has no len()`);
}

export function isIterable(value: Value): boolean {
  return value instanceof PyIterator || (sizeOf(value) !== null && !isObject(value));
}

/** Its items one by one; an iterator's are then read. */
export function iterate(value: Value, run: Run): Iterator<Value> {
  if (value instanceof PyIterator) return value.iterator;
  if (value instanceof PyRange) return numbersOf(value);
  return itemsOf(value, run)[Symbol.iterator]();
}

function* numbersOf(range: PyRange): Iterator<Value> {
  for (let i = 0; i < range.length; i++) yield range.at(i);
}

/** Its items as a list. */
export function itemsOf(value: Value, run: Run): readonly Value[] {
  if (value instanceof PyList || value instanceof PyTuple) return value.items;
  if (value instanceof Undefined) return [];
  if (value instanceof PyIterator) {
    const items: Value[] = [];
    for (let next = value.iterator.next(); next.done !== true; next = value.iterator.next()) {
      run.items(1);
      items.push(next.value);
    }
    return items;
  }
  if (value instanceof Escaped) return refuse('the items of an escaped text');
  if (!isIterable(value)) return typeError(`'${typeName(value)}' object is not iterable`);
  run.items(length(value));
  if (isStr(value)) return charactersOf(value);
  if (value instanceof PyDict) return value.keys();
  if (value instanceof PyView) return value.list();
  return value instanceof PyRange ? Array.from({ length: value.length }, (_, i) => value.at(i)) : [];
}

/** `item in whole`. */
export function contains(whole: Value, item: Value, run: Run): boolean {
  if (isStr(whole)) {
    if (!isStr(item)) typeError(`'in <string>' requires string as left operand, not ${typeName(item)}`);
    run.read(plain(whole).length);
    return isStr(item) && plain(whole).includes(plain(item));
  }
  if (whole instanceof PyDict || (whole instanceof PyView && whole.kind === 'keys')) {
    return (whole instanceof PyDict ? whole : whole.of).get(item) !== undefined;
  }
  if (whole instanceof PyRange) {
    if (typeof item !== 'bigint') return itemsOf(whole, run).some((own) => equals(own, item, run));
    const steps = (item - whole.start) / whole.step;
    return (item - whole.start) % whole.step === 0n && steps >= 0n && steps < BigInt(whole.length);
  }
  if (whole instanceof PyIterator) {
    for (let next = whole.iterator.next(); next.done !== true; next = whole.iterator.next())
      if (equals(next.value, item, run)) return true;
    return false;
  }
  if (whole instanceof Escaped || !isIterable(whole))
    throw new PyError('TypeError', `argument of type '${typeName(whole)}' is not iterable`);
  return itemsOf(whole, run).some((own) => equals(own, item, run));
}
