/** JSON stored in the database: a value damaged by the disk or by another program is reported in words. */
import { BraidError } from '../errors.ts';

/** The value of a stored text; `what` says whose it is: "the configuration of run 7". */
export function storedJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw damaged(what, text, cause);
  }
}

/** The same where it has to be an object. */
export function storedObject(text: string, what: string): Readonly<Record<string, unknown>> {
  const value = storedJson(text, what);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw damaged(what, text);
}

/** The same where it has to be a list. */
export function storedList(text: string, what: string): readonly unknown[] {
  const value = storedJson(text, what);
  if (Array.isArray(value)) return value;
  throw damaged(what, text);
}

function damaged(what: string, text: string, cause?: unknown): BraidError {
  const shown = text.length <= 60 ? text : `${text.slice(0, 60)}…`;
  return new BraidError('DATABASE_DAMAGED', `Expected ${what} in the database to be a JSON object, got "${shown}"`, {
    ...(cause !== undefined && { cause }),
    remedy: 'Restore the database (braid.db) from a backup. The files of the runs in outputs/ are not affected.',
  });
}
