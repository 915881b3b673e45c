/** The curriculum for the page: each stage with its dataset, scores, latest run and starting point. */
import { existsSync } from 'node:fs';
import type { CheckpointRow } from '../../store/checkpoints.ts';
import type { DatasetLeakage } from '../../store/datasets.ts';
import type { Store } from '../../store/index.ts';
import type { RunRow, RunState } from '../../store/runs.ts';
import type { StageRow } from '../../store/stages.ts';
import { type HeldOutStanding, standingOf } from '../runs/held-out.ts';
import { bestScore, type Promotion, promotionOf, trainingScores } from '../runs/promotion.ts';
import { resumeLacks } from '../runs/resume-lacks.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { fromStoredPath } from '../workspace/workspace.ts';
import { defaultPromotion, defaultSteps } from './edit.ts';
import { checkpointBefore, nextStart, stageDefaults } from './stage-config.ts';
import { stageTimes, type TimeLeft } from './time-left.ts';

export interface StageScore {
  readonly step: number;
  readonly mean: number;
  readonly low: number | null;
  readonly high: number | null;
}

/** What a stage starts from. */
export type StageOrigin =
  | { readonly kind: 'model'; readonly name: string }
  | {
      readonly kind: 'checkpoint';
      readonly path: string;
      readonly step: number;
      readonly runId: number;
      readonly runName: string;
    };

export interface StageRun {
  readonly id: number;
  readonly name: string;
  readonly state: RunState;
  readonly step: number;
  readonly maxSteps: number;
  /** Held-out score before its first step. */
  readonly baseline: number | null;
  readonly reason: string | null;
  /** What is missing of what it needs to be resumed, in sentences. */
  readonly lacks: readonly string[];
}

export interface StageView extends Omit<StageRow, 'promotion'> {
  readonly promotion: Promotion | null;
  readonly dataset: {
    readonly name: string;
    readonly task: string;
    readonly file: string;
    readonly trainN: number;
    readonly testN: number;
    /** null: not checked. */
    readonly leakage: DatasetLeakage | null;
    /** Its file is gone. */
    readonly missing: boolean;
  } | null;
  /** The one of its runs that trained last. */
  readonly run: StageRun | null;
  readonly runs: number;
  /** Held-out scores of that run, baseline left out. */
  readonly scores: readonly StageScore[];
  /** Where the score of that run stands; null: it has none. */
  readonly standing: HeldOutStanding | null;
  /** The best held-out score of all its runs. */
  readonly best: (StageScore & { readonly runId: number }) | null;
  /** What that run started from, or before the first run what it would start from. */
  readonly origin: StageOrigin;
  /** What the next stage would start from. */
  readonly handsOn: { readonly runId: number; readonly step: number } | null;
  /** Of its remaining steps; null: none, or not known. */
  readonly timeLeft: TimeLeft | null;
}

/** Why the queue is paused. */
export interface QueueHold {
  held(): string | null;
  /** The stage that paused it; null: none. */
  heldFor(): number | null;
}

export interface Curriculum {
  readonly stages: readonly StageView[];
  /** The ids of the waiting ones, next one first. */
  readonly queue: readonly number[];
  /** Why the queue is paused, and for which stage. */
  readonly held: string | null;
  readonly heldFor: number | null;
  readonly autoPromote: boolean;
  /** What the form of a new stage starts with. */
  readonly newStage: { readonly steps: number; readonly promotion: Promotion };
}

/** All stages, in order. */
export function curriculum(
  { store, queue, paths }: Pick<OpenWorkspace, 'store' | 'paths'> & { readonly queue: QueueHold },
  autoPromote: boolean,
): Curriculum {
  const times = stageTimes(store, paths);
  return {
    stages: store.stages.list().map((stage) => ({
      ...stageView(store, stage, paths),
      timeLeft: times.get(stage.id) ?? null,
    })),
    queue: store.stages.queue().map(({ id }) => id),
    held: queue.held(),
    heldFor: queue.heldFor(),
    autoPromote,
    newStage: { steps: defaultSteps, promotion: defaultPromotion },
  };
}

/** One stage with everything its rows hold. */
export function stageView(store: Store, stage: StageRow, paths: OpenWorkspace['paths']): Omit<StageView, 'timeLeft'> {
  const runs = store.runs.ofStage(stage.id);
  const [latest] = runs;
  const hands = nextStart(store, stage) ?? (stage.metScore === null ? null : checkpointBefore(store, stage, paths));
  return {
    ...stage,
    promotion: promotionOf(stage),
    dataset: datasetOf(store, stage),
    run: latest === undefined ? null : { ...stageRun(latest), lacks: resumeLacks(store, latest) },
    runs: runs.length,
    scores: latest === undefined ? [] : trainingScores(store, latest.id).map(scoreOf),
    standing: latest === undefined ? null : standingOf(store, latest),
    best: bestOfStage(store, runs),
    origin: latest === undefined ? nextOrigin(store, stage, paths) : originOf(store, latest),
    handsOn: hands === null ? null : { runId: hands.runId, step: hands.step },
  };
}

function datasetOf(store: Store, stage: StageRow): StageView['dataset'] {
  const dataset = stage.datasetId === null ? undefined : store.datasets.get(stage.datasetId);
  if (dataset === undefined) return null;
  const { name, task, trainN, testN, leakage } = dataset;
  const file = fromStoredPath(store.folder, dataset.file);
  return { name, task, file, trainN, testN, leakage, missing: !existsSync(file) };
}

function stageRun({ id, name, state, step, maxSteps, baselineScore, reason }: RunRow): Omit<StageRun, 'lacks'> {
  return { id, name, state, step, maxSteps, baseline: baselineScore, reason };
}

function scoreOf({ step, mean, low, high }: StageScore): StageScore {
  return { step, mean, low, high };
}

function bestOfStage(store: Store, runs: readonly RunRow[]): StageView['best'] {
  return bestScore(runs.flatMap(({ id }) => trainingScores(store, id).map((row) => ({ ...scoreOf(row), runId: id }))));
}

function originOf(store: Store, run: RunRow): StageOrigin {
  const checkpoint = run.parentCheckpointId === null ? undefined : store.checkpoints.get(run.parentCheckpointId);
  return checkpoint === undefined ? { kind: 'model', name: run.model } : fromCheckpoint(store, checkpoint);
}

function nextOrigin(store: Store, stage: StageRow, paths: OpenWorkspace['paths']): StageOrigin {
  const own = { ...stageDefaults(store, stage, paths), ...stage.config };
  const before = own.from_checkpoint === null ? null : checkpointBefore(store, stage, paths);
  if (before !== null) return fromCheckpoint(store, before);
  return { kind: 'model', name: typeof own.model === 'string' ? own.model : 'tiny' };
}

function fromCheckpoint(store: Store, { path, step, runId }: CheckpointRow): StageOrigin {
  const runName = store.runs.get(runId)?.name ?? `run ${runId}`;
  return { kind: 'checkpoint', path: fromStoredPath(store.folder, path), step, runId, runName };
}
