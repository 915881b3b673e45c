/** The curriculum: its stages, their queue, what a start would meet, and what later stages forgot. */
import { type } from '@orpc/contract';
import { z } from 'zod';
import type { Curriculum } from '../../services/curriculum.ts';
import type { StageSupply } from '../../services/datasets.ts';
import type { Forgetting } from '../../services/forgetting.ts';
import type { Preflight } from '../../services/preflight.ts';
import { promotionSchema } from '../../services/promotion.ts';
import { id, line, procedure } from './base.ts';
import { configFieldValues } from './config.ts';

const stage = z.object({ stageId: id });
const edit = z.object({
  name: line.optional(),
  words: z.int().min(1).max(100_000).nullable().optional(),
  datasetId: id.nullable().optional(),
  steps: z.int().min(1).max(10_000_000).optional(),
  promotion: promotionSchema.nullable().optional(),
  config: configFieldValues.optional(),
});

export const stages = {
  list: procedure.output(type<Curriculum>()),
  add: procedure.input(edit).output(z.object({ stageId: id })),
  change: procedure.input(edit.extend({ stageId: id })),
  remove: procedure.input(stage),
  /** To a place from 0. */
  move: procedure.input(stage.extend({ to: z.int().min(0) })),
  /** A stage for each length that has none, with its dataset where there is one. */
  plan: procedure.output(z.object({ added: z.int() })),
  /** Makes the datasets that stages lack; ends with those that the texts can't serve. */
  makeDatasets: procedure.output(type<readonly StageSupply[]>()),
  /** The settings that a run of the stage would have where its own say nothing, and its own. */
  config: procedure
    .input(stage)
    .output(
      type<{ readonly defaults: Readonly<Record<string, unknown>>; readonly own: Readonly<Record<string, unknown>> }>(),
    ),
  /** Looks at a start without starting; ends with the report. */
  preflight: procedure.input(stage).output(type<Preflight>()),
  start: procedure.input(stage).output(z.object({ runId: id })),
  enqueue: procedure.input(stage),
  dequeue: procedure.input(stage),
  /** Lets the queue go on after it stood still. */
  release: procedure,
  forgetting: procedure.output(type<Forgetting>()),
  /** Measures what is missing of it. */
  checkForgetting: procedure,
  /** The demo: dataset, stage and run in one. */
  demo: procedure.output(z.object({ runId: id })),
};
