/** Other people's values in messages: as much of them as helps, however large they are. */

import type { z } from 'zod';
import { beginning } from '../text/beginning.ts';
import { described } from '../text/field-faults.ts';

const LONGEST = 120;

/** A value of a file. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > LONGEST ? `${beginning(text, LONGEST)} …` : text;
}

/** What a schema finds wrong, in plain words. */
export function issuesOf(error: z.ZodError): string {
  return described(error, { fields: [], elsewhere: {} });
}
