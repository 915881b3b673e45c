/** What no procedure takes, whatever else it may be asked: NUL characters, and values nested without end. */
import { os } from '@orpc/server';
import { inputError } from '../errors.ts';

/** The deepest input of the contract has a fifth of it. */
const MOST_LEVELS = 50;
/** Items of a list; lists of numbers (positions of texts) are longer. */
const MOST_ITEMS = 10_000;
const MOST_NUMBERS = 1_000_000;
/** Fields of an object: far more than any has, which its schema says better. */
const MOST_FIELDS = 100_000;
/** Lists and objects of one input. */
const MOST_CONTAINERS = 100_000;

/** Middleware: refuses such input in words; a path with NUL would end in Node's own exception. */
export const plainInput = os.middleware(async ({ next }, input) => {
  checkPlain(input);
  return next();
});

interface Place {
  readonly value: unknown;
  readonly path: readonly string[];
}

/** Throws BAD_REQUEST with the place of what is wrong. Not recursive: the depth is the page's to choose. */
export function checkPlain(input: unknown): void {
  const open: Place[] = [];
  let containers = 0;
  const take = (value: unknown, path: readonly string[]): void => {
    if (typeof value === 'string' && value.includes('\0')) throw refused(path, 'expected text without NUL characters');
    if (typeof value !== 'object' || value === null || value instanceof Blob) return;
    if (path.length >= MOST_LEVELS) throw refused(path.slice(0, 3), `expected at most ${MOST_LEVELS} levels`);
    if (++containers > MOST_CONTAINERS) throw refused([], `expected at most ${MOST_CONTAINERS} lists and objects`);
    open.push({ value, path });
  };
  take(input, []);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path } = next;
    if (Array.isArray(value)) checkList(value, path, take);
    else checkFields(value as object, path, take);
  }
}

type Take = (value: unknown, path: readonly string[]) => void;

/** Sizes first: what validates them would name every wrong item of millions. */
function checkList(items: readonly unknown[], path: readonly string[], take: Take): void {
  const isLong = items.length > MOST_ITEMS;
  if (isLong && (items.length > MOST_NUMBERS || !items.every((item) => typeof item === 'number')))
    throw refused(
      path,
      `expected a list of at most ${MOST_ITEMS} items, or ${MOST_NUMBERS} numbers, got ${items.length}`,
    );
  if (!isLong) for (const [i, item] of items.entries()) take(item, [...path, String(i)]);
}

function checkFields(fields: object, path: readonly string[], take: Take): void {
  let count = 0;
  for (const name in fields) {
    if (++count > MOST_FIELDS) throw refused(path, `expected at most ${MOST_FIELDS} fields`);
    if (name.includes('\0')) throw refused(path, 'expected names without NUL characters');
    take((fields as Readonly<Record<string, unknown>>)[name], [...path, name]);
  }
}

function refused(path: readonly string[], why: string) {
  return inputError('BAD_REQUEST', path.length === 0 ? why : `"${path.join('.').slice(0, 200)}": ${why}`);
}
