/** The curriculum: its stages, their queue, pre-flight checks, and forgetting. */
import { type } from '@orpc/contract';
import { z } from 'zod';
import type { Curriculum } from '../../services/curriculum/curriculum.ts';
import type { Forgetting } from '../../services/curriculum/forgetting.ts';
import type { LeftCheckpoint, LoweredRate } from '../../services/curriculum/stage-config.ts';
import type { StageSupply } from '../../services/datasets/index.ts';
import { promotionSchema } from '../../services/runs/promotion.ts';
import type { Preflight } from '../../services/training/preflight.ts';
import { id, line, list, procedure } from './base.ts';
import { configFieldValues } from './config.ts';

export interface StageSettings {
  readonly defaults: Readonly<Record<string, unknown>>;
  /** The checkpoint before it, if the stage doesn't start from that because it trains another model. */
  readonly left: LeftCheckpoint | null;
  /** The default learning rate, if its long texts make it smaller than the preset's. */
  readonly lowered: LoweredRate | null;
}

const shared = z.object({ preset: line, config: configFieldValues });

const stage = z.object({ stageId: id });
/** `allowUnwritable`: the user has agreed to train words that the tokenizer can't write, which the stage keeps. */
const starting = stage.extend({ allowUnwritable: z.boolean().optional() });
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
  /** Moves it to a position, from 0. */
  move: procedure.input(stage.extend({ to: z.int().min(0) })),
  /** Adds a stage for each length without one, with its dataset if there is one. */
  plan: procedure.output(z.object({ added: z.int() })),
  /** The preset and settings that all stages have in common. */
  shared: procedure.output(shared),
  /** Replaces them; stages that train keep theirs. */
  changeShared: procedure.input(shared),
  /** Generates missing datasets; ends with the ones that the texts aren't sufficient for. */
  makeDatasets: procedure.output(type<readonly StageSupply[]>()),
  /** The default settings for a run of the stage once it is edited like this; null: of one that is to be added. */
  config: procedure
    .input(edit.pick({ words: true, datasetId: true, steps: true, config: true }).extend({ stageId: id.nullable() }))
    .output(type<StageSettings>()),
  /** Runs the pre-flight check without starting; ends with the report. `kept`: the newest will do, if nothing has changed. */
  preflight: procedure.input(stage.extend({ kept: z.boolean().optional() })).output(type<Preflight>()),
  start: procedure.input(starting).output(z.object({ runId: id })),
  enqueue: procedure.input(starting),
  /** Counts it as met by the held-out score of its pre-flight check; gives the next stage that is to be trained. */
  countAsMet: procedure.input(stage.extend({ score: z.number() })).output(z.object({ next: id.nullable() })),
  dequeue: procedure.input(stage),
  /** Puts the waiting stages in this order. */
  reorder: procedure.input(z.object({ stageIds: list(id, { max: 1000 }) })),
  /** Resumes a paused queue. */
  release: procedure,
  forgetting: procedure.output(type<Forgetting>()),
  /** Runs its missing evaluations. */
  checkForgetting: procedure,
  /** The demo: dataset, stage and run in one. */
  demo: procedure.output(z.object({ runId: id })),
};
