/** Runs: the history, one run in detail, its charts, its lifecycle. */

import { eventIterator, type } from '@orpc/contract';
import { z } from 'zod';
import type { ConfigDifference } from '../../services/config/diff.ts';
import type { RunCost } from '../../services/runs/cost.ts';
import type { ExportedFiles } from '../../services/runs/exports/exports.ts';
import type { Lineage, RunDetail, RunSummary } from '../../services/runs/history.ts';
import type { Removal } from '../../services/runs/removal.ts';
import type { VariedSettings } from '../../services/runs/varied-settings.ts';
import type { Advice, AdvisedRun } from '../../services/runs/verdict/advice.ts';
import type { WatchedSeries } from '../../services/runs/watched-series.ts';
import type { WholeCheckpoint } from '../../services/runs/whole-checkpoint.ts';
import type { Preflight } from '../../services/training/preflight.ts';
import type { RunNews, RunStanding } from '../../services/training/run-watch.ts';
import { SIGNAL_SETTINGS } from '../../services/training/signal/budget.ts';
import type { SignalBudget } from '../../services/training/signal/run-signal.ts';
import type { MetricBucket, MetricPoint } from '../../store/metrics.ts';
import { id, line, list, path, procedure } from './base.ts';
import { configFieldValues } from './config.ts';

export const states = z.enum(['running', 'paused', 'interrupted', 'done', 'failed', 'stopped', 'collapsed']);
const range = z.object({ from: z.int().min(0), to: z.int().min(0) });
/** A comma separates tags where they are typed. */
const tag = z
  .string()
  .trim()
  .min(1)
  .max(40)
  .regex(/^[^,\n]*$/, 'Expected a tag without commas');
const names = list(z.string().min(1).max(100), { min: 1, max: 50 });

/** What a run or a sweep is based on, and the settings over it. */
export const runBase = z.object({
  preset: line.default('interleave-tiny'),
  /** Uses the settings of this run instead of a preset's. */
  like: id.optional(),
  /** Uses what this task's folder suggests instead of a preset's. */
  task: line.regex(/^[\w-]+$/, { error: 'expected the name of a task' }).optional(),
  config: configFieldValues,
});

export const newRun = runBase.extend({ name: line.optional() });

export const runs = {
  list: procedure
    .input(
      z.object({
        states: list(states, { max: 20 }).optional(),
        stageId: id.optional(),
        limit: z.int().min(1).max(500).default(100),
        /** Only runs older than this id: the next page. */
        before: id.optional(),
      }),
    )
    .output(type<readonly RunSummary[]>()),
  get: procedure.input(z.object({ runId: id })).output(type<RunDetail>()),
  lineage: procedure.input(z.object({ runId: id })).output(type<Lineage>()),
  /** Min, max and mean of metrics in at most `count` buckets of steps. */
  buckets: procedure
    .input(z.object({ runId: id, names, count: z.int().min(1).max(5000), range: range.optional() }))
    .output(type<Readonly<Record<string, readonly MetricBucket[]>>>()),
  series: procedure
    .input(z.object({ runId: id, names, range: range.optional() }))
    .output(type<Readonly<Record<string, readonly MetricPoint[]>>>()),
  /** One metric of many runs for sparklines, by run id: means of at most `count` buckets. */
  sparklines: procedure
    .input(
      z.object({
        runIds: list(id, { max: 200 }),
        name: z.string().min(1).max(100).default('reward'),
        count: z.int().min(2).max(100).default(40),
      }),
    )
    .output(type<Readonly<Record<number, readonly number[]>>>()),
  /** The run's state, with the verdict on its training signal. */
  standing: procedure.input(z.object({ runId: id })).output(type<RunStanding>()),
  /** The run's state, then its updates; continues after `afterStep`. */
  watch: procedure
    .input(z.object({ runId: id, afterStep: z.int().min(0).default(0) }))
    .output(eventIterator(type<RunNews>())),
  /** Starts a run with these settings over a preset's or a run's; validates before anything is stored. */
  start: procedure.input(newRun).output(z.object({ runId: id })),
  /** Runs the pre-flight check without starting; ends with the report. */
  preflight: procedure.input(newRun).output(type<Preflight>()),
  pause: procedure.input(z.object({ runId: id })),
  /** Resumes after a pause, or resumes an ended run from its newest or the given checkpoint. */
  resume: procedure.input(
    z.object({ runId: id, checkpointId: id.optional(), maxSteps: z.int().min(1).max(10_000_000).optional() }),
  ),
  /** The newest checkpoint whose files are as they were written; reads them all, which takes a second for a gigabyte. */
  wholeCheckpoint: procedure.input(z.object({ runId: id })).output(type<WholeCheckpoint>()),
  /** Finishes the current step, saves and ends. */
  stop: procedure.input(z.object({ runId: id })),
  kill: procedure.input(z.object({ runId: id })),
  rename: procedure.input(z.object({ runId: id, name: line })),
  /** Sets the user's notes, tags or both. */
  annotate: procedure.input(
    z.object({ runId: id, notes: z.string().max(20_000).optional(), tags: list(tag, { max: 20 }).optional() }),
  ),
  /** What `remove` would delete, and which runs descend from it. */
  removal: procedure.input(z.object({ runId: id })).output(type<Removal>()),
  remove: procedure.input(z.object({ runId: id })),
  /** The fields in which the saved configurations of these runs differ. */
  compareConfigs: procedure
    .input(z.object({ runIds: list(id, { min: 2, max: 4 }) }))
    .output(type<readonly ConfigDifference[]>()),
  /** The settings in which any of these runs differ, with each run's value. */
  settings: procedure.input(z.object({ runIds: list(id, { max: 1000 }) })).output(type<VariedSettings>()),
  /** Advice for the next run, from the metrics. */
  advice: procedure.input(z.object({ runId: id })).output(type<readonly Advice[]>()),
  /** The next run: this one's configuration, the changes that the advice makes, and a name. */
  advised: procedure
    .input(
      z.object({
        runId: id,
        rules: list(z.enum(['kl_high', 'kl_exploding', 'near_zero', 'reward_flat', 'too_slow']), { max: 10 }),
      }),
    )
    .output(type<AdvisedRun>()),
  /** What the groups that it sampled had to teach, and what the settings that avoid dead ones would have saved. */
  signal: procedure.input(z.object({ runId: id })).output(type<SignalBudget | null>()),
  /** The next run with one of these settings switched on. */
  signalNext: procedure.input(z.object({ runId: id, setting: z.enum(SIGNAL_SETTINGS) })).output(type<AdvisedRun>()),
  /** Policy loss, average reward, KL penalty, total loss. */
  watched: procedure.input(z.object({ runId: id })).output(type<readonly WatchedSeries[]>()),
  /** So far, and the estimate for the remaining steps. */
  cost: procedure.input(z.object({ runId: id })).output(type<{ readonly spent: RunCost; readonly left: RunCost }>()),
  /** What the trainer said before it died; null if it never did, or said nothing. */
  stderr: procedure.input(z.object({ runId: id })).output(z.object({ text: z.string().nullable() })),
  /** For other tools, into a folder of the workspace: TensorBoard events, CSV, parquet. */
  export: procedure.input(z.object({ runId: id })).output(type<ExportedFiles & { readonly folder: string }>()),
  exportedFile: procedure.input(z.object({ runId: id, file: line })).output(z.instanceof(Blob)),
  /** The saved configuration as YAML. */
  config: procedure.input(z.object({ runId: id })).output(z.object({ yaml: z.string(), file: path })),
};
