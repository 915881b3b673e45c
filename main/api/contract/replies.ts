/** The reply system: its data, its split, its four methods, its small-scale test, its report. */
import { type } from '@orpc/contract';
import { z } from 'zod';
import type { ReplyChecklist } from '../../services/replies/checklist.ts';
import type { ReplyDesk } from '../../services/replies/desk.ts';
import type { SeedTable } from '../../services/replies/over-seeds.ts';
import type { PostPage } from '../../services/replies/posts.ts';
import type { ReportView } from '../../services/replies/report.ts';
import { line, procedure, seed } from './base.ts';

/** As returned by the list of models; null: the default. */
const ref = z.string().min(1).max(4200).nullable();

const job = z.object({ jobId: z.int() });

export const replies = {
  desk: procedure.output(type<ReplyDesk>()),
  /** Imports a JSONL of reply records; errors are reported by line, and then nothing is imported. */
  import: procedure.input(z.object({ name: line, content: z.instanceof(Blob) })),
  takeSample: procedure,
  /** Ends when both phases have been written. */
  split: procedure.input(z.object({ ratio: z.number().gt(0).lt(1), seed })),
  start: procedure
    .input(z.object({ method: z.enum(['baseline', 'polychromic', 'grpo_from_baseline', 'polychromic_grpo']), seed }))
    .output(z.object({ runId: z.int() })),
  /** The model to train, and what GRPO starts from. */
  choose: procedure.input(z.object({ model: ref.optional(), start: ref.optional() })),
  /** The checklist before the long runs. */
  checklist: procedure.input(z.object({ seed })).output(type<ReplyChecklist>()),
  tick: procedure.input(
    z.object({ name: z.enum(['generations_read', 'tracking', 'commitment']), ticked: z.boolean() }),
  ),
  trial: procedure.input(z.object({ seed })).output(job),
  /** Split, four runs, comparison. */
  whole: procedure.input(z.object({ seed })).output(job),
  compare: procedure.input(z.object({ seed })).output(job),
  /** Compares the methods once for each seed that all have finished. */
  compareSeeds: procedure.output(job),
  /** The means over those seeds, with intervals; null before. */
  overSeeds: procedure.output(type<SeedTable | null>()),
  report: procedure.output(type<ReportView | null>()),
  /** The replies to one post, side by side: the one at this place among those found. */
  posts: procedure
    .input(z.object({ search: z.string().max(200).optional(), at: z.int().min(0).max(1_000_000).optional() }))
    .output(type<PostPage | null>()),
  reportFile: procedure.input(z.object({ file: line })).output(z.object({ text: z.string() })),
};
