/** The errors of a record, field by field: what was expected and what it got. */

import type { z } from 'zod';
import { type BraidError, inputError } from '../errors.ts';
import { beginning } from '../text/beginning.ts';

/** Checks one parsed JSONL value against a schema whose messages say what was expected. */
export function parseFields<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw badRecord(result.error.issues.map((issue) => describe(issue, value)));
}

/** Named of one record: in a file each may have as many. */
const MOST_FAULTS = 5;

/** The error of a record with these faults. */
export function badRecord(faults: readonly string[]): BraidError {
  const more = faults.length - MOST_FAULTS;
  return inputError(
    'BAD_RECORD',
    [...faults.slice(0, MOST_FAULTS), ...(more > 0 ? [`and ${more} more`] : [])].join('; '),
  );
}

function describe({ path, message }: z.core.$ZodIssue, value: unknown): string {
  if (path.length === 0) return `expected ${message}, got ${shown(value)}`;
  let came: unknown = value;
  for (const key of path) came = (came as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[key];
  return `expected "${path.join('.')}" to be ${message}, got ${shown(came)}`;
}

/** A value for an error message: JSON, truncated. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const json = JSON.stringify(value);
  return json.length > 60 ? `${beginning(json, 60)}…` : json;
}
