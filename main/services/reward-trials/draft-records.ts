/** Records of a task that is being written: shown as the prompts that they become, and completed by a model. */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { inputError } from '../../errors.ts';
import type { FolderSource } from '../../tasks/folder/source.ts';
import type { TaskRecord } from '../../tasks/task.ts';
import { counted } from '../../text/format.ts';
import { datasetFiles } from '../datasets/index.ts';
import type { DraftRecords } from '../datasets/record-page.ts';
import { requireModel } from '../models/list.ts';
import { resolveModelParts } from '../models/resolve.ts';
import { readTask } from '../tasks/task-list.ts';
import type { TextWorkers } from '../text-worker/workers.ts';
import { runTrainerJob } from '../trainer-process/job.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { fromStoredPath } from '../workspace/workspace.ts';
import { type Draft, type DraftPlace, draftSource } from './drafts.ts';

/** Where records come from: the task's folder, or a dataset of the workspace. */
export interface RecordsChoice {
  /** null: the folder's own. */
  readonly datasetId: number | null;
  readonly side: 'train' | 'test';
}

/** A source of records for a task. */
export interface RecordsSource extends RecordsChoice {
  readonly label: string;
}

type Place = DraftPlace & RecordPlace & Pick<OpenWorkspace, 'workspace' | 'jobs' | 'paths' | 'changes'>;

/** What is needed to read a task's records. */
export interface RecordPlace extends Pick<DraftPlace, 'store' | 'paths'> {
  readonly library: { readonly workers: Pick<TextWorkers, 'run'> };
}

/** What records there are for a task: datasets made for it, the newest first, then its own, often its template's. */
export function recordsSources({ store, paths }: Pick<RecordPlace, 'store' | 'paths'>, name: string): RecordsSource[] {
  const { records } = readTask(name, { workspace: store.folder, paths });
  const sides = (file: string, label: string, datasetId: number | null): RecordsSource[] => {
    const { test } = datasetFiles(file);
    return [
      { label: `${label}, training`, datasetId, side: 'train' },
      ...(existsSync(test) ? [{ label: `${label}, held out`, datasetId, side: 'test' } as const] : []),
    ];
  };
  const made = store.datasets.list().filter(({ task }) => task === name);
  return [
    ...made
      .toSorted((a, b) => b.madeAt - a.madeAt || b.id - a.id)
      .flatMap(({ id, name, file }) => sides(fromStoredPath(store.folder, file), name, id)),
    ...(records === null ? [] : sides(records, 'Its own records', null)),
  ];
}

/**
 * The dataset of a new run of a task whose folder has records: the newest one made for it, since those of the folder are
 * often its template's. None: such a dataset is missing, and the task's own settings hold.
 */
export function importedDataset(place: Pick<RecordPlace, 'store' | 'paths'>, name: string): { dataset?: string } {
  const { records } = readTask(name, { workspace: place.store.folder, paths: place.paths });
  const [newest] = recordsSources(place, name);
  if (records === null || newest === undefined || newest.datasetId === null) return {};
  const file = recordsFile(place, name, newest);
  return existsSync(file) ? { dataset: file } : {};
}

/** A page of records as the draft reads them; faults are listed first, as they have to be fixed. */
export function draftRecords(
  place: DraftPlace & RecordPlace,
  draft: Draft,
  choice: RecordsChoice,
  page: { readonly offset: number; readonly limit: number },
): Promise<DraftRecords> {
  const from = { task: draftSource(draft, place), file: recordsFile(place, draft.name, choice) };
  return place.library.workers.run('recordPage', { ...from, ...page });
}

/** One record of a file, counted from 0, of a task as it is saved. */
export function recordAt(
  place: RecordPlace,
  source: FolderSource,
  choice: RecordsChoice,
  index: number,
): Promise<{ readonly record: TaskRecord; readonly reference: string; readonly total: number }> {
  const file = recordsFile(place, source.name, choice);
  return place.library.workers.run('recordAt', { task: source, file, index });
}

function recordsFile(
  { store, paths }: Pick<RecordPlace, 'store' | 'paths'>,
  name: string,
  { datasetId, side }: RecordsChoice,
): string {
  if (datasetId === null) {
    const { records } = readTask(name, { workspace: store.folder, paths });
    if (records !== null) return datasetFiles(records)[side];
    throw inputError('NO_RECORDS', `The task "${name}" has no records of its own`, 'Import records for it.');
  }
  const row = store.datasets.get(datasetId);
  if (row !== undefined) return datasetFiles(fromStoredPath(store.folder, row.file))[side];
  throw inputError('DATASET_UNKNOWN', `There is no dataset with id ${datasetId}`, 'It may have been removed.');
}

export interface SampleRequest extends RecordsChoice {
  /** As in the list of models. */
  readonly model: string;
  readonly prompts: number;
  readonly samples: number;
  readonly temperature: number;
  readonly seed: number;
}

/** Has a model complete some of the records; the completions are kept in memory. Returns their id. */
export async function sampleDraft(place: Place, draft: Draft, request: SampleRequest): Promise<number> {
  const { prompts, samples, temperature, seed } = request;
  const source = draftSource(draft, place);
  const file = recordsFile(place, draft.name, request);
  const chosen = await place.library.workers.run('drawRecords', { task: source, file, count: prompts, seed });
  const records = chosen.map(({ record }) => record);
  const { name, folder } = requireModel(place, request.model);
  const model = { name, ...resolveModelParts(folder, place.paths) };
  const { result } = place.jobs.start(
    'trial-sample',
    `Sample ${counted(records.length * samples, 'completion')} with ${name}`,
    (job) =>
      runTrainerJob(
        {
          kind: 'sample',
          task: source,
          models: [model],
          records,
          samples,
          temperature,
          seed,
          batchSize: Math.max(1, Math.floor(ROWS / samples)),
          maxCompletionLength: null,
          backend: 'auto',
          threads: availableParallelism(),
          kernelsFile: place.paths.kernels,
          rewardWorker: place.paths.rewardWorker,
        },
        place.paths.trainer,
        { signal: job.signal, onProgress: job.progress },
      ),
  );
  const sampled = (await result).value.models[0];
  const answers = chosen.flatMap(({ fields, line }, i) =>
    (sampled?.completions[i] ?? []).map((completed) => ({ fields, line, ...completed })),
  );
  const id = place.sampled.keep({ task: draft.name, model: name }, answers);
  place.changes.publish('samples');
  return id;
}

/** Completions decoded together. */
const ROWS = 128;
