/**
 * A model's completion of a prompt, from the engine that samples it to the page. Each form has the fields of the
 * one before; what only passes one on takes it by its name (`writtenOf`, `sampledFacts`).
 */
import { z } from 'zod';
import { type ChatMessage, chatMessageSchema, turnLines } from './chat-message.ts';

/** Of which nothing is changed. */
type Unchanged<T> = T extends object ? { readonly [K in keyof T]: Unchanged<T[K]> } : T;

/** What sampling says of a completion, in every form of it. */
const factsSchema = z.object({
  /** False if it was cut off at the longest completion length. */
  terminated: z.boolean(),
});

export type SampledFacts = Unchanged<z.infer<typeof factsSchema>>;

/** Tokens as an engine gives them. */
const completionSchema = z.object({
  /** With the end token if it was generated. */
  ids: z.array(z.int().min(0)).min(1),
  ...factsSchema.shape,
  /** Of the sampler, one a token; where a server samples. */
  logps: z.array(z.number()).exactOptional(),
  /** Of several turns: 1 for each token of the model's, 0 for those that were added between its turns (TRL: tool_mask). */
  toolMask: z.array(z.int().min(0).max(1)).exactOptional(),
});

export type Completion = Unchanged<z.infer<typeof completionSchema>>;

/** What happened in a completion of several turns. */
const episodeSchema = z.object({
  /** What followed the prompt: the model's turns, and what answered them. */
  messages: z.array(chatMessageSchema),
  /** The sum of what the steps gave, by component. */
  rewards: z.record(z.string(), z.number()),
  /** Why a step failed, which ended it; null: none did. */
  failure: z.string().nullable(),
});

export type Episode = Unchanged<z.infer<typeof episodeSchema>>;

/** A sampled completion, with what happened in it if the task has an environment; a checkpoint holds it. */
export const playedSchema = completionSchema.extend({ episode: episodeSchema.exactOptional() });

export type Played = Unchanged<z.infer<typeof playedSchema>>;

/** What a model wrote. */
export interface Written {
  /** In one text: of several turns, the model's below each other. */
  readonly completion: string;
  /** What followed the prompt, where the task has an environment: the model's turns and what answered them. */
  readonly messages?: readonly ChatMessage[];
}

/** A completion in words, as a reward is given it. */
export interface Completed extends Written {
  /** With the end token. */
  readonly tokens: number;
  /** `length`: it was cut off at the longest completion length. */
  readonly finish: 'stop' | 'length';
}

export function writtenOf({ completion, messages }: Written): Written {
  return { completion, ...(messages !== undefined && { messages }) };
}

/** A completion as people read it: of several turns with what answered them. */
export function wholeText({ completion, messages }: Written): string {
  return messages === undefined ? completion : turnLines(messages);
}

export function completedOf({ tokens, finish, ...written }: Completed): Completed {
  return { ...writtenOf(written), tokens, finish };
}

export function sampledFacts({ terminated }: SampledFacts): SampledFacts {
  return { terminated };
}
