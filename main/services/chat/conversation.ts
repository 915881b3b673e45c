/**
 * A conversation with up to four models: what the user says is the same for all, and each has answers of its own. It is
 * kept in this form.
 */
import { z } from 'zod';
import { inputError } from '../../errors.ts';

const MOST_MODELS = 4;
const MOST_TURNS = 1000;
const text = z.string().max(1_000_000);
const model = z.string().max(4096);

/** How an answer's tokens are drawn. */
export const samplingSchema = z.object({
  /** 0: always the most likely token. */
  temperature: z.number().min(0).max(5),
  topP: z.number().gt(0).max(1),
  /** 0: all tokens. */
  topK: z.int().min(0).max(1_000_000),
  minP: z.number().min(0).max(1),
  repetitionPenalty: z.number().gt(0).max(10),
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1),
  maxTokens: z.int().min(1).max(32_768),
  /** Texts that end an answer and aren't part of it. */
  stop: z.array(z.string().min(1).max(200)).max(8),
});

export type ChatSampling = Readonly<z.infer<typeof samplingSchema>>;

/** `stopped`: by the user. `edited`: the user has written it, or part of it. */
const endSchema = z.enum(['stop', 'length', 'stopped', 'edited']);

const answerSchema = z.object({
  /** The name of the model that wrote it. */
  model: z.string().max(500),
  content: text,
  end: endSchema,
  tokens: z.int().min(0),
  seconds: z.number().min(0),
  /** Of each token: where its text ends in `content`, and its log-probability. Two lists of numbers: there are many. */
  probabilities: z
    .object({
      ends: z.array(z.int().min(0)).max(100_000),
      logprobs: z.array(z.number()).max(100_000),
    })
    .optional(),
});

export type KeptAnswer = Readonly<z.infer<typeof answerSchema>>;

export const conversationSchema = z.object({
  system: text,
  /** References, one a column. */
  models: z.array(model).min(1).max(MOST_MODELS),
  sampling: samplingSchema,
  turns: z
    .array(
      z.object({
        user: text,
        /** In the order of the models; null: it has not answered. */
        answers: z.array(answerSchema.nullable()).max(MOST_MODELS),
      }),
    )
    .max(MOST_TURNS),
});

export type Conversation = Readonly<z.infer<typeof conversationSchema>>;

/** A stored conversation, or why it can't be shown. */
export function readConversation(stored: unknown, title: string): Conversation {
  const { data, error } = conversationSchema.safeParse(stored);
  if (data !== undefined) return data;
  const issue = error.issues[0];
  throw inputError(
    'CONVERSATION_UNREADABLE',
    `"${title}" can't be shown: "${issue?.path.join('.')}": ${issue?.message}`,
    'It was kept by another version of Braid, or the database was changed. Open it there, or delete it here.',
  );
}

const TITLE = 60;

/** What it is called until the user says otherwise: the start of the first turn. */
export function titleOf({ turns }: Pick<Conversation, 'turns'>): string {
  const said = (turns[0]?.user ?? '').trim().replaceAll(/\s+/gu, ' ');
  const letters = [...said];
  if (letters.length === 0) return 'Conversation';
  return letters.length <= TITLE ? said : `${letters.slice(0, TITLE - 1).join('')}…`;
}
