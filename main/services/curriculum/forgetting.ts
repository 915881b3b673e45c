/** The forgetting check: the base and every stage's checkpoint on the held-out records of every stage so far. */

import { existsSync } from 'node:fs';
import type { CheckpointRow } from '../../store/checkpoints.ts';
import type { EvaluationRow } from '../../store/evaluations.ts';
import type { Store } from '../../store/index.ts';
import type { StageRow } from '../../store/stages.ts';
import { openTask } from '../../tasks/index.ts';
import { interleaveTask } from '../../tasks/interleave/task.ts';
import { replyTask } from '../../tasks/reply/task.ts';
import { askedAlike } from '../../trainer/policy/asked-alike.ts';
import { datasetFiles, readDataset } from '../datasets/index.ts';
import { type EvaluateOptions, evaluateFolderTask, evaluateModels, evaluateReplies } from '../evaluation/evaluate.ts';
import { interleaveRow, type KeptEvaluation, rewardRow, storeEvaluationRow } from '../evaluation/history.ts';
import { savedFields } from '../runs/saved-config.ts';
import { findTask } from '../tasks/find-task.ts';
import { rewardAccess } from '../tasks/reward-access.ts';
import { runTask } from '../tasks/run-task.ts';
import type { JobProgress } from '../trainer-process/job.ts';
import type { JobContext } from '../workspace/jobs.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { fromStoredPath } from '../workspace/workspace.ts';
import { nextStart, stageDefaults } from './stage-config.ts';

/** Held-out records of each stage: as many as a run's own evaluations use by default, and the same ones. */
const RECORDS = 32;

export interface ForgettingCell {
  readonly mean: number;
  readonly low: number | null;
  readonly high: number | null;
  readonly n: number;
}

export interface ForgettingColumn {
  readonly stageId: number;
  readonly name: string;
  /** null: its records have no length. */
  readonly words: number | null;
  readonly task: string;
  /** Its held-out records. */
  readonly dataset: string;
  readonly madeAt: number;
}

export interface ForgettingRow {
  /** null: the base model. */
  readonly stageId: number | null;
  readonly name: string;
  readonly model: string;
  readonly checkpoint: CheckpointRow | null;
  /** One per column; null: not measured. */
  readonly cells: readonly (ForgettingCell | null)[];
}

export interface Forgetting {
  readonly columns: readonly ForgettingColumn[];
  readonly rows: readonly ForgettingRow[];
  /** Cells that the check would measure. */
  readonly missing: number;
}

/** The results so far: the trained stages, each measured after each. Empty before the first. */
export function forgetting(store: Store, paths: Pick<HostPaths, 'resources'>): Forgetting {
  const trained = trainedStages(store);
  const columns = trained.flatMap(({ stage }) => columnOf(store, stage));
  const [first] = trained;
  if (first === undefined) return { columns: [], rows: [], missing: 0 };
  const base = baseModel(store, first.stage, paths);
  const rows = [
    { stageId: null, name: base, model: base, checkpoint: null },
    ...trained.map(({ stage, checkpoint }) => ({
      stageId: stage.id,
      name: stage.name,
      model: store.runs.get(checkpoint.runId)?.model ?? base,
      checkpoint,
    })),
  ].map((row) => ({ ...row, cells: columns.map((column) => measured(store, row, column)) }));
  return { columns, rows, missing: rows.flatMap(({ cells }) => cells).filter((cell) => cell === null).length };
}

/** Measures every cell that is empty and stores it; one trainer process per stage. */
export async function checkForgetting(store: Store, paths: HostPaths, { signal, progress }: JobContext): Promise<void> {
  const { columns, rows, missing } = forgetting(store, paths);
  const chat = stagesChat(rows);
  let done = 0;
  for (const [at, column] of columns.entries()) {
    const wanting = rows.filter(({ cells }) => cells[at] === null);
    if (wanting.length === 0) continue;
    const models = wanting.map(({ name, model, checkpoint }) =>
      checkpoint === null
        ? { name, folder: model, ...(chat !== undefined && { chat }) }
        : { name, folder: checkpoint.path },
    );
    const onProgress = (part: JobProgress): void =>
      progress({ done: done + wanting.length * (part.done / part.total), total: missing, unit: 'measurements' });
    const results = await evaluated(store, column, { models, paths, signal, onProgress });
    for (const [i, { checkpoint, model }] of wanting.entries()) {
      const result = results[i];
      if (result === undefined) continue;
      const origin = { runId: checkpoint?.runId ?? null, checkpointId: checkpoint?.id ?? null };
      const step = checkpoint?.step ?? 0;
      storeEvaluationRow(store, { ...origin, step, model, dataset: column.dataset }, result);
    }
    done += wanting.length;
  }
}

/** The models on a stage's held-out records, by the reward that its newest run has; it may be met without one. */
async function evaluated(
  store: Store,
  { stageId, task, dataset: file }: ForgettingColumn,
  options: Pick<EvaluateOptions, 'models' | 'paths' | 'signal' | 'onProgress'>,
): Promise<readonly KeptEvaluation[]> {
  const [run] = store.runs.ofStage(stageId);
  const source =
    run === undefined ? findTask(task, { workspace: store.folder, paths: options.paths }) : runTask(store, run);
  if (source === interleaveTask.name) {
    const dataset = readDataset(file, interleaveTask).slice(0, RECORDS);
    return (await evaluateModels({ ...options, dataset })).results.map(interleaveRow);
  }
  if (typeof source === 'string') {
    const dataset = readDataset(file, replyTask).slice(0, RECORDS);
    return (await evaluateReplies({ ...options, dataset })).results.map(rewardRow);
  }
  const rewardOptions = {
    ...options,
    rewardAccess: rewardAccess(source, { workspace: store.folder, paths: options.paths }),
  };
  // Records are read without the reward, so it starts no thread.
  const dataset = readDataset(file, openTask(source, '')).slice(0, RECORDS);
  return (await evaluateFolderTask(source, { ...rewardOptions, dataset })).results.map(rewardRow);
}

/** How the stages ask, for the base, whose folder knows nothing of it; undefined where it has its own settings, or nobody has. */
function stagesChat(rows: readonly ForgettingRow[]) {
  const parts = rows.map(({ name, model, checkpoint }) => {
    const folder = checkpoint?.path ?? model;
    return { name, base: folder, adapter: null, tokenizer: folder };
  });
  return askedAlike(parts)[0]?.chat;
}

interface TrainedStage {
  readonly stage: StageRow;
  readonly checkpoint: CheckpointRow;
}

function trainedStages(store: Store): TrainedStage[] {
  return store.stages.list().flatMap((stage) => {
    if (stage.state === 'running') return [];
    const checkpoint = nextStart(store, stage);
    return checkpoint === null ? [] : [{ stage, checkpoint }];
  });
}

function columnOf(store: Store, { id: stageId, name, words, datasetId }: StageRow): ForgettingColumn[] {
  const row = datasetId === null ? undefined : store.datasets.get(datasetId);
  if (row === undefined) return [];
  const { test } = datasetFiles(fromStoredPath(store.folder, row.file));
  return existsSync(test) ? [{ stageId, name, words, task: row.task, dataset: test, madeAt: row.madeAt }] : [];
}

function baseModel(store: Store, stage: StageRow, paths: Pick<HostPaths, 'resources'>): string {
  const [run] = store.runs.ofStage(stage.id);
  const { model = 'tiny' } = { ...stageDefaults(store, stage, paths), ...stage.config };
  return run?.model ?? String(model);
}

/** The newest measurement: by the check itself, or by a run at exactly this step. */
function measured(
  store: Store,
  { model, checkpoint }: Pick<ForgettingRow, 'model' | 'checkpoint'>,
  { dataset, madeAt }: ForgettingColumn,
): ForgettingCell | null {
  const own =
    checkpoint === null
      ? store.evaluations.list({ model, dataset }).filter((row) => isOfBase(store, row))
      : store.evaluations.list({ runId: checkpoint.runId, dataset }).filter(({ step }) => step === checkpoint.step);
  // A regenerated dataset has different records under the same name.
  const newest = own.filter(({ createdAt }) => createdAt >= madeAt).at(-1);
  return newest === undefined ? null : { mean: newest.mean, low: newest.low, high: newest.high, n: newest.n };
}

function isOfBase(store: Store, { runId, checkpointId, step }: EvaluationRow): boolean {
  if (runId === null) return checkpointId === null;
  const run = store.runs.get(runId);
  if (step !== 0 || run === undefined) return false;
  return savedFields(run).from_checkpoint == null;
}
