/** Other people's values in messages: as much of them as helps, however large they are. */
import type { z } from 'zod';

const LONGEST = 120;
const MOST_ISSUES = 5;

/** A value of a file. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
}

/** What a schema finds wrong. */
export function issuesOf({ issues }: z.ZodError): string {
  const first = issues.slice(0, MOST_ISSUES).map(({ path, message }) => `"${path.join('.')}": ${message}`);
  return [...first, ...(issues.length > MOST_ISSUES ? [`and ${issues.length - MOST_ISSUES} more`] : [])].join('; ');
}
