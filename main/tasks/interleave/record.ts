/** One line of an interleave dataset. */
import { z } from 'zod';
import { inputError } from '../../errors.ts';
import { splitWords } from '../../text/words.ts';
import { parseFields, shown } from '../record-faults.ts';
import { interleaveWords } from './target.ts';

// Each message says what was expected; `parseFields` adds the field and the actual value.
const filled = z
  .string({ error: 'a string' })
  .min(1, { error: 'a string that is not empty' })
  .refine((text) => !text.includes('\0'), { error: 'a string without NUL characters' });
const withWords = filled.refine((text) => splitWords(text).length > 0, { error: 'a string with at least one word' });
const counted = z.int({ error: 'a whole number' }).min(1, { error: 'a whole number of at least 1' });

const recordSchema = z.object(
  {
    id: filled,
    words: counted,
    title_a: filled,
    title_b: filled,
    fragment_a: withWords,
    fragment_b: withWords,
    prompt: withWords,
    target: withWords,
  },
  { error: 'an object with the fields of an interleave record' },
);

/** Two fragments, the prompt that asks for their interleaving, and the exact answer. */
export type InterleaveRecord = Readonly<z.infer<typeof recordSchema>>;

/** Checks one parsed JSONL value; the error names invalid fields with what was expected and what it got. */
export function parseInterleaveRecord(value: unknown): InterleaveRecord {
  const record = parseFields(recordSchema, value);
  checkConsistency(record);
  return record;
}

/** Fields that are valid on their own but inconsistent would train something other than interleaving. */
function checkConsistency(record: InterleaveRecord): void {
  const a = splitWords(record.fragment_a);
  const b = splitWords(record.fragment_b);
  const longer = Math.max(a.length, b.length);
  if (record.words !== longer)
    throw inputError('BAD_RECORD', `expected "words" to be the fragments' word count ${longer}, got ${record.words}`);
  const expected = interleaveWords(a, b);
  const got = splitWords(record.target);
  const at = expected.findIndex((word, i) => word !== got[i]);
  if (at >= 0 || got.length !== expected.length) {
    const position = at >= 0 ? at : expected.length;
    throw inputError(
      'BAD_RECORD',
      `expected "target" to be the two fragments word by word in turn, got ${shown(got[position])} instead of ${shown(expected[position])} as word ${position + 1}`,
    );
  }
}
