/** Sweeps: plans of many runs, each a setting and a seed. */
import { type } from '@orpc/contract';
import { z } from 'zod';
import type { CheckedPlan } from '../../services/sweeps/draft.ts';
import type { SweepEstimate } from '../../services/sweeps/estimate.ts';
import { sweepPlanSchema } from '../../services/sweeps/plan.ts';
import type { SweepSummary, SweepView } from '../../services/sweeps/result.ts';
import { id, line, list, procedure, seed } from './base.ts';
import { configFieldValues } from './config.ts';
import { runBase } from './runs.ts';

const sweep = z.object({ sweepId: id });
const planned = runBase.extend({ plan: sweepPlanSchema });
const replySeeds = z.object({ seeds: list(seed, { min: 1, max: 20 }) });

export const sweeps = {
  list: procedure.output(type<readonly SweepSummary[]>()),
  /** With its table. */
  get: procedure.input(sweep).output(type<SweepView>()),
  /** What a plan would run, and the errors of its settings. */
  preview: procedure.input(runBase.extend({ plan: configFieldValues })).output(type<CheckedPlan>()),
  /** Measures the runs of a plan without starting; ends with the estimate. */
  estimate: procedure.input(planned).output(type<SweepEstimate>()),
  /** Stores it and queues it. */
  start: procedure.input(planned).output(z.object({ sweepId: id })),
  /** The four methods of the reply system with each of these seeds, in one sweep. */
  startReplies: procedure.input(replySeeds).output(z.object({ sweepId: id })),
  /** Measures each of its methods; like the start, it splits replies that haven't been split. */
  estimateReplies: procedure.input(replySeeds).output(type<SweepEstimate>()),
  /** Saves and stops its run, and takes it out of the queue. */
  pause: procedure.input(sweep),
  /** Puts it at the end of the queue. */
  resume: procedure.input(sweep),
  /** Stops its run; the others are never started. Runs that have ended are kept. */
  cancel: procedure.input(sweep),
  /** Queues it again with its failed and cancelled runs. */
  retry: procedure.input(sweep),
  rename: procedure.input(sweep.extend({ name: line })),
  /** Deletes the plan and its table; its runs are kept. */
  remove: procedure.input(sweep),
};
