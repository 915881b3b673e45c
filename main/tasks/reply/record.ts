/** One line of a reply dataset. */
import { z } from 'zod';
import { splitWords } from '../../text/words.ts';
import { parseFields } from '../record-faults.ts';
import { replyPrompt } from './prompt.ts';

const filled = z
  .string({ error: 'a string' })
  .min(1, { error: 'a string that is not empty' })
  .refine((text) => !text.includes('\0'), { error: 'a string without NUL characters' });
const withWords = filled.refine((text) => splitWords(text).length > 0, { error: 'a string with at least one word' });
const counted = z.int({ error: 'a whole number' }).min(0, { error: 'a whole number of at least 0' });

const engagementSchema = z.object(
  { likes: counted, reposts: counted, replies: counted },
  { error: 'an object {likes, reposts, replies}' },
);

const recordSchema = z.object(
  { id: filled, post: withWords, reply: withWords, engagement: engagementSchema, prompt: withWords.optional() },
  { error: 'an object with the fields of a reply record: id, post, reply, engagement' },
);

/** The engagement that a reply received. */
export type Engagement = Readonly<z.infer<typeof engagementSchema>>;

/** A post and the reply that someone gave it. */
export interface ReplyRecord {
  readonly id: string;
  readonly post: string;
  readonly reply: string;
  readonly engagement: Engagement;
  /** What the model is given. */
  readonly prompt: string;
}

/** Checks one parsed JSONL value; the error names invalid fields with what was expected and what it got. */
export function parseReplyRecord(value: unknown): ReplyRecord {
  const { prompt, ...record } = parseFields(recordSchema, value);
  return { ...record, prompt: prompt ?? replyPrompt(record.post) };
}

/** A reply's engagement as one number: likes, plus twice the reposts and replies, which take more effort. */
export function engagementCount({ likes, reposts, replies }: Engagement): number {
  return likes + 2 * (reposts + replies);
}
