/** What no procedure takes, whatever else it may be asked: NUL characters, and values nested without end. */
import { os } from '@orpc/server';
import { inputError } from '../errors.ts';

/** The deepest input of the contract has a fifth of it. */
const MOST_LEVELS = 50;

/** Middleware: refuses such input in words; a path with NUL would end in Node's own exception. */
export const plainInput = os.middleware(async ({ next }, input) => {
  checkPlain(input);
  return next();
});

/** Throws BAD_REQUEST with the place of what is wrong. Not recursive: the depth is the page's to choose. */
export function checkPlain(input: unknown): void {
  const open: { readonly value: unknown; readonly path: readonly string[] }[] = [{ value: input, path: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path } = next;
    if (typeof value === 'string' && value.includes('\0')) throw refused(path, 'expected text without NUL characters');
    if (typeof value !== 'object' || value === null || value instanceof Blob) continue;
    if (path.length >= MOST_LEVELS) throw refused(path.slice(0, 3), `expected at most ${MOST_LEVELS} levels`);
    // Lists of numbers come by the million.
    if (Array.isArray(value) && value.every((item) => typeof item === 'number')) continue;
    for (const [name, item] of Object.entries(value)) {
      if (name.includes('\0')) throw refused(path, 'expected names without NUL characters');
      open.push({ value: item, path: [...path, name] });
    }
  }
}

function refused(path: readonly string[], why: string) {
  return inputError('BAD_REQUEST', path.length === 0 ? why : `"${path.join('.').slice(0, 200)}": ${why}`);
}
