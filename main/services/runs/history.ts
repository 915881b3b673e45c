/** Reading the history: the list of runs, the details of one, and its lineage. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { BraidError, inputError } from '../../errors.ts';
import { cleanLeftovers } from '../../io/atomic-write.ts';
import type { CheckpointRow } from '../../store/checkpoints.ts';
import type { EvaluationRow } from '../../store/evaluations.ts';
import type { EventRow } from '../../store/events.ts';
import type { Store } from '../../store/index.ts';
import type { MetricPoint } from '../../store/metrics.ts';
import type { LineageRow, RunFilter, RunRow } from '../../store/runs.ts';
import { ownRunFolder } from '../workspace/own-folders.ts';
import { fromStoredPath } from '../workspace/workspace.ts';
import { evaluationDataset } from './evaluation.ts';
import { belowBaseline, type HeldOutStanding, standingOf } from './held-out.ts';
import { TRL_BACKEND } from './imported-runs.ts';
import { storedTags } from './notes.ts';
import { type Promotion, promotionOf } from './promotion.ts';
import { resumeLacks } from './resume-lacks.ts';
import { requireRun } from './runs.ts';
import { savedFields } from './saved-config.ts';
import { trainedSeconds } from './step-times.ts';

/** A run in a list: everything but the configuration, with its newest metrics and evaluation. */
export interface RunSummary extends Omit<RunRow, 'configJson' | 'tagsJson'> {
  readonly tags: readonly string[];
  /** All metrics; in a list only the main ones. */
  readonly latest: Readonly<Record<string, MetricPoint>>;
  /** The newest since its first step: the baseline isn't one. */
  readonly evaluation: EvaluationRow | null;
  /** How far that is below the baseline. */
  readonly below: HeldOutStanding['below'];
  /** Seconds of its steps and evaluations, excluding time paused or interrupted. */
  readonly trainedSeconds: number;
}

export interface RunDetail extends RunSummary {
  /** The run's saved configuration; `parseConfig` turns it into a TrainConfig. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly metricNames: readonly string[];
  readonly sampleSteps: readonly number[];
  /** With absolute paths; those whose folder is gone have `deletedAt`. */
  readonly checkpoints: readonly CheckpointRow[];
  readonly evaluations: readonly EvaluationRow[];
  /** Where its held-out score stands; null: it has none. */
  readonly standing: HeldOutStanding | null;
  readonly events: readonly EventRow[];
  /** What is missing of what it needs to be resumed, in sentences. */
  readonly lacks: readonly string[];
  /** Its stage of the curriculum. */
  readonly stage: { readonly id: number; readonly name: string; readonly promotion: Promotion | null } | null;
}

export interface Lineage {
  readonly run: RunRow;
  /** Oldest first, the direct parent last. */
  readonly ancestors: readonly LineageRow[];
  readonly descendants: readonly LineageRow[];
}

/** The metrics shown in a list of runs. */
const HEADLINES = [
  'reward',
  'reward_std',
  'loss',
  'groups/dead',
  'entropy',
  'kl',
  'completions/mean_length',
  'step_time',
  'engine/cost',
  'reward_cost',
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

/** Whether a run has ended although its end couldn't be stored yet, for instance on a full disk. */
export function asEnded<R extends RunSummary>(run: R, lost: (runId: number) => string | null): R {
  const isOpen = run.state === 'running' || run.state === 'paused';
  const reason = isOpen ? lost(run.id) : null;
  return reason === null ? run : { ...run, state: 'interrupted', reason };
}

/** One run as in the list. */
export function runSummary(store: Store, runId: number): RunSummary {
  return summarise(store, requireRun(store, runId));
}

function summarise(store: Store, run: RunRow, latest = store.metrics.latest(run.id)): RunSummary {
  const { configJson: _, tagsJson, ...rest } = absolute(store, run);
  // Evaluations on other lengths are stored with the run too, but don't measure its own goal.
  const newest = store.evaluations.newestOfRun(run.id, evaluationDataset(run));
  const evaluation = newest === undefined || newest.step === 0 ? null : newest;
  const below = belowBaseline(evaluation?.mean ?? null, run.baselineScore);
  return {
    ...rest,
    tags: storedTags(tagsJson),
    latest,
    evaluation,
    below,
    trainedSeconds: trainedSeconds(store, run.id),
  };
}

/** Everything about one run except its series and samples, which are read by range and by step. */
export function runDetail(store: Store, runId: number): RunDetail {
  const run = requireRun(store, runId);
  return {
    ...summarise(store, run),
    config: savedFields(run),
    metricNames: store.metrics.names(runId),
    sampleSteps: store.samples.steps(runId),
    checkpoints: refreshCheckpoints(store, runId),
    evaluations: store.evaluations.ofRun(runId).filter(({ dataset }) => dataset === evaluationDataset(run)),
    standing: standingOf(store, run),
    events: store.events.ofRun(runId),
    lacks: resumeLacks(store, run),
    stage: stageOf(store, run),
  };
}

function stageOf(store: Store, { stageId }: RunRow): RunDetail['stage'] {
  const stage = stageId === null ? undefined : store.stages.get(stageId);
  return stage === undefined ? null : { id: stage.id, name: stage.name, promotion: promotionOf(stage) };
}

/** A run's ancestors and descendants: run → checkpoint → next run. */
export function lineage(store: Store, runId: number): Lineage {
  const run = requireRun(store, runId);
  return {
    run: absolute(store, run),
    ancestors: store.runs.ancestors(runId).map((row) => absoluteLineage(store, row)),
    descendants: store.runs.descendants(runId).map((row) => absoluteLineage(store, row)),
  };
}

/**
 * A run's checkpoints with absolute paths, after marking those whose folders were removed. Where the run's own folder
 * is missing too, they count as deleted only now: the disk that it is on may come back.
 */
export function refreshCheckpoints(store: Store, runId: number): CheckpointRow[] {
  const isGone = ({ path, deletedAt }: CheckpointRow): boolean =>
    deletedAt === null && !existsSync(fromStoredPath(store.folder, path));
  const isRemoved = (row: CheckpointRow): boolean =>
    isGone(row) && existsSync(dirname(fromStoredPath(store.folder, row.path)));
  if (!store.readOnly)
    for (const checkpoint of store.checkpoints.ofRun(runId).filter(isRemoved))
      store.checkpoints.markDeleted(checkpoint.id);
  return store.checkpoints.ofRun(runId).map((row) => {
    const deletedAt = isGone(row) ? store.now() : row.deletedAt;
    return { ...row, deletedAt, path: fromStoredPath(store.folder, row.path) };
  });
}

/** The newest existing checkpoint of a run; undefined before the first. */
export function newestCheckpoint(store: Store, runId: number): CheckpointRow | undefined {
  const run = requireRun(store, runId);
  const folder = ownRunFolder(store, run.folder);
  // A trainer killed between two renames leaves a checkpoint set aside; a live one must not be disturbed.
  const live = run.state === 'running' || run.state === 'paused';
  if (!live && folder !== null) tidy(folder);
  return refreshCheckpoints(store, runId)
    .filter((checkpoint) => checkpoint.deletedAt === null)
    .at(-1);
}

/** Of a run without a `newestCheckpoint`: the newest one that isn't known to be deleted, so that it is only out of reach. */
export function checkpointOutOfReach(store: Store, runId: number): CheckpointRow | undefined {
  return store.checkpoints.ofRun(runId).findLast(({ deletedAt }) => deletedAt === null);
}

/** That a run's checkpoint is out of reach, and so `what` can't be done; `safe`: what that leaves as it is. */
export function outOfReach(store: Store, { runId, step, path }: CheckpointRow, what: string, safe: string): BraidError {
  const folder = dirname(fromStoredPath(store.folder, path));
  const run = store.runs.get(runId)?.name ?? `run ${runId}`;
  return new BraidError(
    'RUN_FOLDER_MISSING',
    `${what} from the checkpoint of step ${step} of ${run}: its folder ${folder} can't be found. ${safe}`,
    { remedy: 'If the folder is on another disk, connect it and try again; if it was deleted, start a new run.' },
  );
}

/**
 * The checkpoint that a run resumes from; null before its first. Throws where checkpoints are out of reach: a restart
 * from step 0 would delete the history.
 */
export function resumePoint(store: Store, run: RunRow): CheckpointRow | null {
  const newest = newestCheckpoint(store, run.id);
  if (newest !== undefined) return newest;
  const known = checkpointOutOfReach(store, run.id);
  if (known === undefined) return null;
  throw outOfReach(store, known, `Run ${run.id} can't be resumed`, 'Its history is unchanged');
}

function tidy(folder: string): void {
  if (!existsSync(folder)) return;
  try {
    cleanLeftovers(folder);
  } catch {
    // Called when a run is shown or has just failed, which an error here must not hide; an unreachable checkpoint is
    // reported as missing right after.
  }
}

/**
 * The run for `--resume` without a name: the newest unfinished one that nothing but a person would resume. `maxSteps`
 * makes a shorter one unfinished again.
 */
export function newestResumable(store: Store, maxSteps = 0): RunRow {
  const open = store.runs
    .list({ states: ['interrupted', 'stopped', 'failed', 'collapsed'] })
    .find((run) => !endsByRule(store, run));
  const done = store.runs
    .list({ states: ['done'] })
    .find((run) => run.backend !== TRL_BACKEND && !endsByRule(store, run));
  if (done !== undefined && done.step < maxSteps && done.id > (open?.id ?? 0)) return absolute(store, done);
  if (open !== undefined) return absolute(store, open);
  const other = 'Start a run with train --dataset, or give a checkpoint with --resume.';
  throw inputError(
    'NOTHING_TO_RESUME',
    done === undefined
      ? `There is no interrupted or stopped run in ${store.folder}`
      : `There is no interrupted or stopped run in ${store.folder}, and run ${done.id}, the newest, is done at step ${done.step}`,
    done === undefined ? other : (continuation(store, done) ?? other),
  );
}

/** Whether its sweep decides how far it trains, or its stage ended it as its rule was met. */
function endsByRule(store: Store, { id, state, stageId }: RunRow): boolean {
  if (store.sweeps.trialOfRun(id) !== undefined) return true;
  return state === 'stopped' && stageId !== null && store.stages.get(stageId)?.state === 'done';
}

/** How to train a finished run further; null: it has no checkpoint. */
function continuation(store: Store, { id, step }: RunRow): string | null {
  const checkpoint = newestCheckpoint(store, id)?.path;
  if (checkpoint === undefined) return null;
  const more = Math.max(1, step) * 2;
  return `To train it further: \`braid train --resume --steps ${more}\`; for the next stage: \`braid train --from ${checkpoint} --dataset FILE\`.`;
}

function absolute<R extends RunRow>(store: Store, run: R): R {
  return { ...run, folder: fromStoredPath(store.folder, run.folder) };
}

function absoluteLineage(store: Store, row: LineageRow): LineageRow {
  const fromPath = row.fromPath === null ? null : fromStoredPath(store.folder, row.fromPath);
  return { ...absolute(store, row), fromPath };
}
