/** Frozen prompts: held-out records of one or more datasets, drawn once, the same for every model. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { inputError } from '../../../errors.ts';
import { hashString, randomStream, shuffled } from '../../../random.ts';
import type { DatasetLeakage } from '../../../store/datasets.ts';
import type { Store } from '../../../store/index.ts';
import type { FolderSource } from '../../../tasks/folder/source.ts';
import { taskHash } from '../../../tasks/folder/source.ts';
import { openTask, type TaskSource } from '../../../tasks/index.ts';
import type { Task, TaskRecord } from '../../../tasks/task.ts';
import { datasetFiles, readDataset } from '../../datasets/index.ts';
import { findTask } from '../../tasks/find-task.ts';
import type { HostPaths } from '../../workspace/paths.ts';
import { fromStoredPath, toStoredPath } from '../../workspace/workspace.ts';

/** A dataset whose held-out records can be used. */
export interface PromptSource {
  readonly datasetId: number;
  readonly name: string;
  readonly task: string;
  readonly words: number | null;
  readonly heldOut: number;
  /** What its held-out records share with its training records; null: not checked. */
  readonly leakage: DatasetLeakage | null;
  /** Why it can't be used; null: it can. */
  readonly problem: string | null;
}

export interface PromptChoice {
  readonly datasetIds: readonly number[];
  /** How many records of each dataset; fewer where it has fewer. */
  readonly n: number;
  readonly seed: number;
}

export interface PromptSet {
  readonly id: number;
  /** As it was when the prompts were frozen: a folder's task with its texts. */
  readonly source: TaskSource;
  /** It reads records and scores nothing. */
  readonly task: Task;
  readonly records: readonly TaskRecord[];
}

export interface PromptPlace {
  readonly store: Store;
  readonly paths: Pick<HostPaths, 'resources'>;
}

/** The datasets of the workspace as sources of prompts. */
export function promptSources(store: Store): PromptSource[] {
  return store.datasets.list().map(({ id, name, file, task, words, testN, leakage }) => {
    const test = heldOutFile(store, file);
    const gone = existsSync(test) ? null : `${test}: expected the held-out records, but the file doesn't exist`;
    const elsewhere = task === 'reply' ? 'Replies are compared on their own screen' : gone;
    const problem = testN === 0 ? 'It has no held-out records' : elsewhere;
    return { datasetId: id, name, task, words, heldOut: testN, leakage, problem };
  });
}

/** Draws the records and stores them; the same records are the same set. */
export function freezePrompts({ store, paths }: PromptPlace, { datasetIds, n, seed }: PromptChoice): PromptSet {
  const datasets = [...new Set(datasetIds)].map((id) => {
    const dataset = store.datasets.get(id);
    if (dataset === undefined) throw inputError('DATASET_UNKNOWN', `There is no dataset with id ${id}`);
    return { task: dataset.task, file: heldOutFile(store, dataset.file) };
  });
  const source = findTask(oneTask(datasets), { workspace: store.folder, paths });
  const task = openTask(source, '');
  const drawn = datasets.map(({ file }) => ({ file, records: draw(readDataset(file, task), n, seed) }));
  const records = withOwnIds(drawn);
  if (records.length === 0)
    throw inputError(
      'EMPTY_DATASET',
      'Expected at least one held-out record, got none',
      'Choose a dataset with held-out records.',
    );
  const id = store.transaction(() =>
    store.promptSets.keep({
      hash: hashOf(task, source, records),
      task: storedSource(source),
      seed,
      records,
      datasets: drawn.map(({ file }) => toStoredPath(store.folder, file)),
    }),
  );
  return { id, source, task, records };
}

/** Models are compared by one measure. */
function oneTask(datasets: readonly { readonly task: string }[]): string {
  const tasks = [...new Set(datasets.map(({ task }) => task))];
  const [only = 'interleave', other] = tasks;
  if (other === undefined) return only;
  throw inputError(
    'MIXED_TASKS',
    `Expected datasets of one task, got ${tasks.join(' and ')}`,
    'Compare the models on each task by itself.',
  );
}

/** A native task by its name, a folder's by its texts: the folder may change. */
function storedSource(source: TaskSource): string {
  return typeof source === 'string' ? source : JSON.stringify({ ...source, folder: `tasks/${source.name}` });
}

function readSource(stored: string): TaskSource {
  return stored.startsWith('{') ? (JSON.parse(stored) as FolderSource) : stored;
}

/** The records of a stored set. */
export function readPromptSet(store: Pick<Store, 'promptSets'>, id: number): PromptSet {
  const { source, task } = promptTask(store, id);
  return { id, source, task, records: store.promptSets.records(id).map((record) => parseStored(task, source, record)) };
}

/** The task of a stored set. */
export function promptTask(store: Pick<Store, 'promptSets'>, id: number): Pick<PromptSet, 'source' | 'task'> {
  const source = readSource(store.promptSets.get(id)?.task ?? 'interleave');
  return { source, task: openTask(source, '') };
}

/** A folder's records are stored with their prompts, which can't be made of themselves again. */
function parseStored(task: Task, source: TaskSource, record: unknown): TaskRecord {
  if (typeof source === 'string') return task.parseRecord(record);
  const { id, prompt } = record as Partial<TaskRecord>;
  if (typeof id === 'string' && typeof prompt === 'string') return record as TaskRecord;
  throw inputError('BAD_RECORD', 'Expected the stored prompts of a comparison to have an id and a prompt');
}

/** One record of a stored set; undefined if the set has none with that id. */
export function readPrompt(store: Pick<Store, 'promptSets'>, id: number, recordId: string): TaskRecord | undefined {
  const found = store.promptSets.records(id).find((record) => (record as { id?: unknown } | null)?.id === recordId);
  const { source, task } = promptTask(store, id);
  return found === undefined ? undefined : parseStored(task, source, found);
}

/** `n` records by the seed, in the order of the file. */
function draw<T>(records: readonly T[], n: number, seed: number): readonly T[] {
  const order = shuffled([...records.keys()], randomStream(seed, hashString('prompts'))).slice(0, n);
  const chosen = new Set(order);
  return records.filter((_, i) => chosen.has(i));
}

/** Two datasets may use the same ids; the dataset's name then becomes a prefix. */
function withOwnIds(
  drawn: readonly { readonly file: string; readonly records: readonly TaskRecord[] }[],
): readonly TaskRecord[] {
  const seen = new Set<string>();
  return drawn.flatMap(({ file, records }) =>
    records.map((record) => {
      const id = seen.has(record.id) ? `${basename(file, '.test.jsonl')}/${record.id}` : record.id;
      seen.add(id);
      return { ...record, id };
    }),
  );
}

/** What identifies a prompt set: prompts and targets, in order; of a folder's task its texts, too. */
function hashOf(task: Task, source: TaskSource, records: readonly TaskRecord[]): string {
  const asked: unknown[] = records.map((record) => [record.id, record.prompt, task.target(record)]);
  if (typeof source !== 'string') asked.push(taskHash(source));
  return createHash('sha256').update(JSON.stringify(asked)).digest('hex').slice(0, 16);
}

/** The held-out records of a dataset. */
export function heldOutFile(store: Pick<Store, 'folder'>, file: string): string {
  return datasetFiles(fromStoredPath(store.folder, file)).test;
}
