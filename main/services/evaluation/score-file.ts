/** Completions to score, as JSONL: {id, prompt, completion} or {id, prompt_ids, completion_ids}. */
import { z } from 'zod';
import { inputError } from '../../errors.ts';
import { readJsonLines } from '../../io/json-lines.ts';
import type { ScoreLine } from '../../trainer/jobs/score.ts';

const ids = z.array(z.int({ error: 'a whole number' }).min(0, { error: 'a whole number of at least 0' }), {
  error: 'a list of token ids',
});
const id = z.union([z.string(), z.int()], { error: 'a string or a whole number' }).transform(String);
const text = z.string({ error: 'a string' });
const shapes = {
  texts: z.looseObject({ id, prompt: text, completion: text }),
  ids: z.looseObject({ id, prompt_ids: ids.min(1, { error: 'at least one token id' }), completion_ids: ids }),
};

const WORDS = {
  code: 'BAD_COMPLETIONS',
  give: 'Give a JSONL file of completions.',
  fix: 'Fix these lines.',
  item: 'completion',
};

/** Reads all lines, or throws one error that lists every invalid one. */
export function readScoreFile(file: string): ScoreLine[] {
  return readJsonLines(file, WORDS, (value, line) => ({ ...parseLine(value), line }));
}

function parseLine(value: unknown): Omit<ScoreLine, 'line'> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw inputError(WORDS.code, 'expected an object {id, prompt, completion}, or with prompt_ids and completion_ids');
  }
  if ('prompt_ids' in value || 'completion_ids' in value) {
    const { id, prompt_ids: prompt, completion_ids: completion } = checked(shapes.ids, value);
    return { id, prompt, completion };
  }
  const { id, prompt, completion } = checked(shapes.texts, value);
  return { id, prompt, completion };
}

function checked<T>(shape: z.ZodType<T>, value: object): T {
  const read = shape.safeParse(value);
  if (read.success) return read.data;
  throw inputError(WORDS.code, describe(read.error));
}

function describe(error: z.ZodError): string {
  return error.issues.map(({ path, message }) => `expected "${path.join('.')}" to be ${message}`).join('; ');
}
