/** Completions to score, as JSONL: {id, prompt, completion}, {id, prompt_ids, completion_ids} or conversations. */
import { z } from 'zod';
import { inputError } from '../../errors.ts';
import { readJsonLines } from '../../io/json-lines.ts';
import { answerOf } from '../../samples/chat-message.ts';
import {
  CONVERSATION_NAMES,
  ConversationFault,
  conversationIn,
  listNames,
  readTools,
} from '../../tasks/folder/conversation.ts';
import type { Scored, ScoreLine } from '../../trainer/jobs/score.ts';

const ids = z.array(z.int({ error: 'a whole number' }).min(0, { error: 'a whole number of at least 0' }), {
  error: 'a list of token ids',
});
const id = z.union([z.string(), z.int()], { error: 'a string or a whole number' }).transform(String);
const text = z.string({ error: 'a string' });
const shapes = {
  named: z.looseObject({ id }),
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

function parseLine(value: unknown): Scored & { readonly id: string } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw inputError(WORDS.code, 'expected an object {id, prompt, completion}, or with prompt_ids and completion_ids');
  }
  if ('prompt_ids' in value || 'completion_ids' in value) {
    const { id, prompt_ids: prompt, completion_ids: completion } = checked(shapes.ids, value);
    return { id, prompt, completion };
  }
  if (isTalk(value)) return { id: checked(shapes.named, value).id, ...conversation(value) };
  const { id, prompt, completion } = checked(shapes.texts, value);
  return { id, prompt, completion };
}

/** Whether it has messages, under any usual name; a prompt and a completion that are texts are none. */
function isTalk(value: object): value is Readonly<Record<string, unknown>> {
  const { prompt } = value as { readonly prompt?: unknown };
  if (Array.isArray(prompt) || CONVERSATION_NAMES.some((name) => name !== 'prompt' && name in value)) return true;
  return prompt === undefined && listNames(value as Readonly<Record<string, unknown>>).length > 0;
}

/** A conversation that ends with the assistant's turn, which is scored. */
function conversation(value: Readonly<Record<string, unknown>>): Scored {
  try {
    const messages = conversationIn(value, 'messages') ?? [];
    const tools = readTools(value.tools);
    if (answerOf(messages) === null)
      throw inputError(WORDS.code, 'expected the conversation to end with a turn of the assistant, which is scored');
    return { messages, ...(tools && { tools }) };
  } catch (error) {
    if (error instanceof ConversationFault) throw inputError(WORDS.code, error.message);
    throw error;
  }
}

function checked<T>(shape: z.ZodType<T>, value: object): T {
  const read = shape.safeParse(value);
  if (read.success) return read.data;
  throw inputError(WORDS.code, describe(read.error));
}

function describe(error: z.ZodError): string {
  return error.issues.map(({ path, message }) => `expected "${path.join('.')}" to be ${message}`).join('; ');
}
