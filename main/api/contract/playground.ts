/** The playground: the prompt from two texts or of a task's record, and the models' completions. */
import { eventIterator, type } from '@orpc/contract';
import { z } from 'zod';
import type { PlayedRecord, PlayRecord } from '../../services/playground/play.ts';
import type { Answer, PlaygroundPrompt } from '../../services/playground/playground.ts';
import { id, list, procedure, seed } from './base.ts';

/** Above the service's own limit, whose error is easier to read. */
const text = z.string().max(1_000_000);

const request = z.object({
  a: text,
  b: text,
  words: z.int().min(1).max(1000).optional(),
  template: z.string().max(20_000).optional(),
});

const model = {
  model: z.string().min(1).max(4096),
  temperature: z.number().min(0).max(5).default(0),
  seed: seed.default(42),
  maxTokens: z.int().min(1).max(32_768).optional(),
  /** Texts that end a completion; absent: those that a model was trained with. */
  stop: list(z.string().min(1).max(200), { max: 8 }).optional(),
  /** Those that are asked the same at the same time. */
  beside: list(z.string().min(1).max(4096), { max: 3 }).default([]),
};

/** A record of a task with files. */
const record = z.object({
  task: z.string().trim().min(1).max(64),
  from: z.object({ datasetId: id.nullable(), side: z.enum(['train', 'test']) }),
  index: z.int().min(0),
});

export const playground = {
  prompt: procedure.input(request).output(type<PlaygroundPrompt>()),
  /** One model's completion as it is generated; ending the stream cancels it. */
  answer: procedure.input(request.extend(model)).output(eventIterator(type<Answer>())),
  record: procedure.input(record).output(type<PlayRecord>()),
  /** One model's completion of a record, turn by turn, with its reward; ending the stream cancels it. */
  play: procedure.input(record.extend(model)).output(eventIterator(type<PlayedRecord>())),
};
