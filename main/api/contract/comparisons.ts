/** Comparisons: a baseline against any number of models on frozen prompts. */
import { type } from '@orpc/contract';
import { z } from 'zod';
import type {
  ComparisonSummary,
  ComparisonView,
  Figure,
  PromptAnswers,
  PromptSource,
  TextFile,
} from '../../services/comparisons/paired/index.ts';
import { id, line, list, procedure } from './base.ts';

/** A model reference, as `models.list` gives it. */
const reference = z.string().min(1).max(4200);

export const comparisons = {
  /** The newest first. */
  list: procedure.output(type<readonly ComparisonSummary[]>()),
  /** Datasets with held-out records. */
  sources: procedure.output(type<readonly PromptSource[]>()),
  get: procedure.input(z.object({ id })).output(type<ComparisonView>()),
  /** Each model's completion of one prompt, word by word. */
  prompt: procedure.input(z.object({ id, recordId: line })).output(type<PromptAnswers>()),
  /** Finds or creates the comparison; missing evaluations run in a job of kind `comparison:ID`. */
  start: procedure
    .input(
      z.object({
        baseline: reference,
        models: list(reference, { min: 1, max: 20 }),
        prompts: z.object({
          datasetIds: list(id, { min: 1, max: 20 }),
          n: z.int().min(1).max(2000),
          seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER),
        }),
      }),
    )
    .output(z.object({ id })),
  /** Runs missing evaluations; `fresh`: all of them again. */
  resume: procedure.input(z.object({ id, fresh: z.boolean().default(false) })),
  /** Removes it from the list; its evaluations are kept for others. */
  remove: procedure.input(z.object({ id })),
  export: procedure.input(z.object({ id, format: z.enum(['csv', 'json', 'markdown']) })).output(type<TextFile>()),
  figures: procedure.input(z.object({ id })).output(type<readonly Figure[]>()),
};
