/** Reading the history: the list of runs, everything about one, and where it comes from. */
import { existsSync } from 'node:fs';
import { inputError } from '../errors.ts';
import { cleanLeftovers } from '../files.ts';
import type { CheckpointRow } from '../store/checkpoints.ts';
import type { EvaluationRow } from '../store/evaluations.ts';
import type { EventRow } from '../store/events.ts';
import type { Store } from '../store/index.ts';
import type { MetricPoint } from '../store/metrics.ts';
import type { LineageRow, RunFilter, RunRow } from '../store/runs.ts';
import { type Promotion, promotionOf } from './promotion.ts';
import { evaluationDataset } from './run-evaluation.ts';
import { requireRun } from './runs.ts';
import { fromStoredPath } from './workspace.ts';

/** A run as a list shows it: all but the configuration's text, its newest metrics, its newest evaluation. */
export interface RunSummary extends Omit<RunRow, 'configJson'> {
  /** Every metric; in a list the headlines only. */
  readonly latest: Readonly<Record<string, MetricPoint>>;
  readonly evaluation: EvaluationRow | null;
}

export interface RunDetail extends RunSummary {
  /** The configuration that was saved with the run; `parseConfig` makes a TrainConfig of it. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly metricNames: readonly string[];
  readonly sampleSteps: readonly number[];
  /** With absolute paths; those whose folder is gone carry `deletedAt`. */
  readonly checkpoints: readonly CheckpointRow[];
  readonly evaluations: readonly EvaluationRow[];
  readonly events: readonly EventRow[];
  /** The stage of the curriculum that it belongs to. */
  readonly stage: { readonly id: number; readonly name: string; readonly promotion: Promotion | null } | null;
}

export interface Lineage {
  readonly run: RunRow;
  /** The first of all in front, the direct parent last. */
  readonly ancestors: readonly LineageRow[];
  readonly descendants: readonly LineageRow[];
}

/** The metrics that a list of runs tells of each. */
const HEADLINES = [
  'reward',
  'reward_std',
  'loss',
  'groups/dead',
  'entropy',
  'kl',
  'completions/mean_length',
  'step_time',
];

/** The runs, newest first. */
export function runHistory(store: Store, filter: RunFilter = {}): RunSummary[] {
  const runs = store.runs.list(filter);
  const latest = store.metrics.latestOfRuns(
    runs.map(({ id }) => id),
    HEADLINES,
  );
  return runs.map((run) => summarise(store, run, latest.get(run.id) ?? {}));
}

/** A run that is over, though the history could not be told so yet, for instance on a full disk. */
export function asEnded<R extends RunSummary>(run: R, lost: (runId: number) => string | null): R {
  const isOpen = run.state === 'running' || run.state === 'paused';
  const reason = isOpen ? lost(run.id) : null;
  return reason === null ? run : { ...run, state: 'interrupted', reason };
}

/** One run as a list shows it. */
export function runSummary(store: Store, runId: number): RunSummary {
  return summarise(store, requireRun(store, runId));
}

function summarise(store: Store, run: RunRow, latest = store.metrics.latest(run.id)): RunSummary {
  const { configJson: _, ...rest } = absolute(store, run);
  // Checks of other lengths are stored with the run too, and say nothing of its own goal.
  const evaluation = store.evaluations.newestOfRun(run.id, evaluationDataset(run)) ?? null;
  return { ...rest, latest, evaluation };
}

/** Everything about one run but its series and samples, which are read by range and by step. */
export function runDetail(store: Store, runId: number): RunDetail {
  const run = requireRun(store, runId);
  return {
    ...summarise(store, run),
    config: JSON.parse(run.configJson) as Record<string, unknown>,
    metricNames: store.metrics.names(runId),
    sampleSteps: store.samples.steps(runId),
    checkpoints: refreshCheckpoints(store, runId),
    evaluations: store.evaluations.ofRun(runId).filter(({ dataset }) => dataset === evaluationDataset(run)),
    events: store.events.ofRun(runId),
    stage: stageOf(store, run),
  };
}

function stageOf(store: Store, { stageId }: RunRow): RunDetail['stage'] {
  const stage = stageId === null ? undefined : store.stages.get(stageId);
  return stage === undefined ? null : { id: stage.id, name: stage.name, promotion: promotionOf(stage) };
}

/** Where a run comes from and what came from it: run → checkpoint → next run. */
export function lineage(store: Store, runId: number): Lineage {
  const run = requireRun(store, runId);
  return {
    run: absolute(store, run),
    ancestors: store.runs.ancestors(runId).map((row) => absoluteLineage(store, row)),
    descendants: store.runs.descendants(runId).map((row) => absoluteLineage(store, row)),
  };
}

/** A run's checkpoints with absolute paths, after marking those whose folders someone (or the trainer) removed. */
export function refreshCheckpoints(
  store: Store,
  runId: number,
  exists: (path: string) => boolean = existsSync,
): CheckpointRow[] {
  for (const checkpoint of store.checkpoints.ofRun(runId)) {
    const gone = !exists(fromStoredPath(store.folder, checkpoint.path));
    if (gone && checkpoint.deletedAt === null) store.checkpoints.markDeleted(checkpoint.id);
  }
  return store.checkpoints.ofRun(runId).map((row) => ({ ...row, path: fromStoredPath(store.folder, row.path) }));
}

/** The newest checkpoint of a run that is still there; undefined before the first. */
export function newestCheckpoint(store: Store, runId: number): CheckpointRow | undefined {
  const run = requireRun(store, runId);
  const folder = fromStoredPath(store.folder, run.folder);
  // A trainer killed between two renames leaves a checkpoint set aside; a live one must not be disturbed.
  const live = run.state === 'running' || run.state === 'paused';
  if (!live) tidy(folder);
  return refreshCheckpoints(store, runId)
    .filter((checkpoint) => checkpoint.deletedAt === null)
    .at(-1);
}

function tidy(folder: string): void {
  if (!existsSync(folder)) return;
  try {
    cleanLeftovers(folder);
  } catch {
    // Asked for where a run is on show or has just failed, which this must not hide; a checkpoint out of reach is
    // found missing right after.
  }
}

/** The run that `--resume` without a name means: the newest that did not reach its end. */
export function newestResumable(store: Store): RunRow {
  const run = store.runs.list({ states: ['interrupted', 'stopped', 'failed', 'collapsed'], limit: 1 })[0];
  if (run !== undefined) return absolute(store, run);
  throw inputError(
    'NOTHING_TO_RESUME',
    `Expected a run that was interrupted or stopped in ${store.folder}, got none`,
    'Start a run with train --dataset, or name a checkpoint after --resume.',
  );
}

function absolute<R extends RunRow>(store: Store, run: R): R {
  return { ...run, folder: fromStoredPath(store.folder, run.folder) };
}

function absoluteLineage(store: Store, row: LineageRow): LineageRow {
  const fromPath = row.fromPath === null ? null : fromStoredPath(store.folder, row.fromPath);
  return { ...absolute(store, row), fromPath };
}
