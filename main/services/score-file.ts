/** Completions to be scored, as JSONL: {id, prompt, completion} or {id, prompt_ids, completion_ids}. */
import { z } from 'zod';
import { inputError } from '../errors.ts';
import type { ScoreLine } from '../trainer/score-job.ts';
import { jsonPlaces } from './json-places.ts';
import { type FileFault, faultsError, readTextFile } from './text-file.ts';

const ids = z.array(z.int({ error: 'a whole number' }).min(0, { error: 'a whole number of at least 0' }), {
  error: 'a list of token ids',
});
const id = z.union([z.string(), z.int()], { error: 'a string or a whole number' }).transform(String);
const text = z.string({ error: 'a string' });
const shapes = {
  texts: z.looseObject({ id, prompt: text, completion: text }),
  ids: z.looseObject({ id, prompt_ids: ids.min(1, { error: 'at least one token id' }), completion_ids: ids }),
};

type LineRead =
  | { readonly kind: 'line'; readonly value: Omit<ScoreLine, 'line'> }
  | { readonly kind: 'fault'; readonly reason: string };

/** Reads all lines, or throws one error that names every bad one. */
export function readScoreFile(file: string): ScoreLine[] {
  const content = readTextFile(file);
  if (content.kind === 'bad')
    throw faultsError('BAD_COMPLETIONS', [content.fault], 'Give a JSONL file of completions.');
  const faults: FileFault[] = [];
  const lines: ScoreLine[] = [];
  content.value.split('\n').forEach((row, i) => {
    if (row.trim() === '') return;
    const read = readLine(row);
    if (read.kind === 'fault') faults.push({ file, line: i + 1, reason: read.reason });
    else lines.push({ ...read.value, line: i + 1 });
  });
  if (faults.length > 0) throw faultsError('BAD_COMPLETIONS', faults, 'Mend these lines.');
  if (lines.length === 0) throw inputError('BAD_COMPLETIONS', `${file}: expected at least one completion, got none`);
  return lines;
}

function readLine(row: string): LineRead {
  let value: unknown;
  try {
    value = JSON.parse(row);
  } catch {
    const { fault } = jsonPlaces(row);
    return {
      kind: 'fault',
      reason: `not JSON: ${fault?.reason ?? 'unreadable'} at column ${(fault?.offset ?? 0) + 1}`,
    };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return {
      kind: 'fault',
      reason: 'expected an object {id, prompt, completion}, or with prompt_ids and completion_ids',
    };
  return 'prompt_ids' in value || 'completion_ids' in value ? readIds(value) : readTexts(value);
}

function readIds(value: object): LineRead {
  const read = shapes.ids.safeParse(value);
  if (!read.success) return { kind: 'fault', reason: describe(read.error) };
  const { id, prompt_ids: prompt, completion_ids: completion } = read.data;
  return { kind: 'line', value: { id, prompt, completion } };
}

function readTexts(value: object): LineRead {
  const read = shapes.texts.safeParse(value);
  if (!read.success) return { kind: 'fault', reason: describe(read.error) };
  const { id, prompt, completion } = read.data;
  return { kind: 'line', value: { id, prompt, completion } };
}

function describe(error: z.ZodError): string {
  return error.issues.map(({ path, message }) => `expected "${path.join('.')}" to be ${message}`).join('; ');
}
