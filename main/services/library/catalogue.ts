/** The datasets of the workspace: listed, with what depends on each; removed. */
import { rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { inputError } from '../../errors.ts';
import { writeError } from '../../io/atomic-write.ts';
import type { DatasetRow } from '../../store/datasets.ts';
import type { Store } from '../../store/index.ts';
import type { RunState } from '../../store/runs.ts';
import type { StageState } from '../../store/stages.ts';
import { nativeTask } from '../../tasks/index.ts';
import { type DatasetFiles, datasetFiles } from '../datasets/files.ts';
import { countLeakage, type Leakage } from '../datasets/leakage.ts';
import { type Waiting, waitingFor, waitingInWords } from '../runs/waiting.ts';
import { liesInWorkspace } from '../workspace/own-folders.ts';
import type { Library } from './library.ts';

/** A dataset in the list. */
export interface DatasetSummary extends DatasetRow {
  /** Bytes of its files; null if the training file is missing. */
  readonly bytes: number | null;
  readonly stages: number;
  readonly runs: number;
}

/** A dataset with its files and what depends on it. */
export interface DatasetDetail extends DatasetSummary {
  readonly files: DatasetFiles;
  /** Whether removing the dataset deletes its files; those outside the workspace stay. */
  readonly filesGo: boolean;
  readonly dependents: Dependents;
}

export interface Dependents {
  readonly stages: readonly { readonly id: number; readonly name: string; readonly state: StageState }[];
  readonly runs: readonly { readonly id: number; readonly name: string; readonly state: RunState }[];
  /** Queued runs and sweeps that will need it. */
  readonly waiting: readonly Pick<Waiting, 'kind' | 'name'>[];
  /** Paused sweeps, which can't be resumed without it. */
  readonly paused: readonly string[];
}

/** Every dataset in curriculum order; newest first within a word count. */
export function listDatasets(store: Store): DatasetSummary[] {
  const stages = store.stages.list();
  const placeOf = (path: string): string => resolve(store.folder, path);
  // Not compared pair by pair: five hundred datasets and ten thousand runs would hold up the host for seconds.
  const runs = new Map<string, number>();
  for (const { dataset, count } of store.runs.countByDataset())
    runs.set(placeOf(dataset), (runs.get(placeOf(dataset)) ?? 0) + count);
  return store.datasets
    .list()
    .map((row) => ({
      ...row,
      bytes: bytesOf(row),
      stages: stages.filter(({ datasetId }) => datasetId === row.id).length,
      runs: runs.get(placeOf(row.file)) ?? 0,
    }))
    .sort((a, b) => (a.words ?? 0) - (b.words ?? 0) || b.madeAt - a.madeAt);
}

function bytesOf({ file }: DatasetRow): number | null {
  const files = datasetFiles(file);
  const train = statSync(files.train, { throwIfNoEntry: false });
  if (train === undefined) return null;
  return train.size + (statSync(files.test, { throwIfNoEntry: false })?.size ?? 0);
}

function isOf(store: Store, path: string, { file }: DatasetRow): boolean {
  return resolve(store.folder, path) === resolve(store.folder, file);
}

/** Stages, runs, and what waits in the queue, that use a dataset. */
export function dependentsOf(store: Store, row: DatasetRow): Dependents {
  const needs = (config: Waiting['configs'][number]): boolean => reads(store, config, row);
  return {
    stages: store.stages
      .list()
      .filter(({ datasetId }) => datasetId === row.id)
      .map(({ id, name, state }) => ({ id, name, state })),
    runs: store.runs
      .list({})
      .filter(({ dataset }) => isOf(store, dataset, row))
      .map(({ id, name, state }) => ({ id, name, state })),
    waiting: waitingFor(store, needs),
    paused: waitingFor(store, needs, ['paused']).flatMap(({ kind, name }) => (kind === 'sweep' ? [name] : [])),
  };
}

/** Whether a run with these settings trains on the dataset, or is evaluated on it. */
function reads(store: Store, { dataset, eval_dataset: heldOut }: Waiting['configs'][number], row: DatasetRow): boolean {
  const files = Object.values(datasetFiles(resolve(store.folder, row.file)));
  return [dataset, heldOut].some((path) => typeof path === 'string' && files.includes(resolve(store.folder, path)));
}

/** One dataset. */
export function datasetDetail(store: Store, id: number): DatasetDetail {
  const row = requireDataset(store, id);
  const dependents = dependentsOf(store, row);
  const { stages, runs } = dependents;
  const files = datasetFiles(row.file);
  return {
    ...row,
    bytes: bytesOf(row),
    stages: stages.length,
    runs: runs.length,
    files,
    filesGo: liesInWorkspace(store, files.train),
    dependents,
  };
}

/** The dataset, or an error if there is none. */
export function requireDataset(store: Pick<Store, 'datasets'>, id: number): DatasetRow {
  const row = store.datasets.get(id);
  if (row !== undefined) return row;
  throw inputError('DATASET_UNKNOWN', `There is no dataset with id ${id}`, 'It may have been removed.');
}

/** Throws if a run uses the dataset, or something in the queue will. */
export function checkUnused(store: Store, row: DatasetRow): void {
  const { stages, runs, waiting } = dependentsOf(store, row);
  const run = runs.find(({ state }) => state === 'running' || state === 'paused');
  if (run !== undefined)
    throw inputError(
      'DATASET_IN_USE',
      `${row.name} is in use: run ${run.id} (${run.name}) is ${run.state}`,
      'Stop the run first.',
    );
  const [queued] = waiting;
  if (queued !== undefined)
    throw inputError(
      'DATASET_IN_USE',
      `${row.name} is in use: ${waitingInWords(queued)} needs it`,
      queued.kind === 'run' ? 'Remove the run from the queue first.' : 'Pause or cancel the sweep first.',
    );
  const stage = stages.find(({ state }) => state === 'queued' || state === 'running');
  if (stage === undefined) return;
  throw inputError(
    'DATASET_IN_USE',
    `${row.name} is in use: the stage "${stage.name}" is ${stage.state}`,
    'Remove the stage from the queue first.',
  );
}

/** Removes a dataset, and its files if they lie in the workspace. Stages lose their dataset; runs keep their history. */
export function removeDataset({ store, changes }: Pick<Library, 'store' | 'changes'>, id: number): void {
  const row = requireDataset(store, id);
  checkUnused(store, row);
  const files = datasetFiles(row.file);
  try {
    for (const file of [files.train, files.test]) if (liesInWorkspace(store, file)) rmSync(file, { force: true });
  } catch (error) {
    throw writeError(error, row.file, 'the removal of a dataset');
  }
  store.datasets.remove(id);
  changes.publish('datasets');
  changes.publish('stages');
}

/**
 * Whether a dataset's test records are held out, read from its files; null where there are none. The result is kept with
 * the dataset. Records of a folder's task were compared when they were imported: the result is in the dataset's row.
 */
export async function leakageOf(library: Library, id: number, signal?: AbortSignal): Promise<Leakage | null> {
  const { store, changes, workers } = library;
  const row = requireDataset(store, id);
  if (nativeTask(row.task) === undefined || row.testN === 0) return null;
  const leakage = await workers.run('checkLeakage', { ...datasetFiles(row.file), task: row.task }, { signal });
  const counted = countLeakage(leakage);
  const isNew = row.leakage?.titles !== counted.titles || row.leakage.pairs !== counted.pairs;
  // The dataset may have been made again meanwhile: then this is about the earlier one.
  if (isNew && store.datasets.get(id)?.madeAt === row.madeAt) {
    store.datasets.setLeakage(id, counted);
    changes.publish('datasets');
    changes.publish('stages');
  }
  return leakage;
}
