/** Frozen prompts: held-out records of one or more datasets, drawn once, the same for every model. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { inputError } from '../../../errors.ts';
import { hashString, randomStream, shuffled } from '../../../random.ts';
import type { DatasetLeakage } from '../../../store/datasets.ts';
import type { Store } from '../../../store/index.ts';
import type { InterleaveRecord } from '../../../tasks/interleave/record.ts';
import { interleaveTask } from '../../../tasks/interleave/task.ts';
import { datasetFiles, readDataset } from '../../datasets/index.ts';
import { fromStoredPath, toStoredPath } from '../../workspace/workspace.ts';

/** A dataset whose held-out records can be used. */
export interface PromptSource {
  readonly datasetId: number;
  readonly name: string;
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
  readonly records: readonly InterleaveRecord[];
}

/** The datasets of the workspace as sources of prompts. */
export function promptSources(store: Store): PromptSource[] {
  return store.datasets.list().map(({ id, name, file, words, testN, leakage }) => {
    const test = heldOutFile(store, file);
    const gone = existsSync(test) ? null : `${test}: expected the held-out records, but the file doesn't exist`;
    const problem = testN === 0 ? 'It has no held-out records' : gone;
    return { datasetId: id, name, words, heldOut: testN, leakage, problem };
  });
}

/** Draws the records and stores them; the same records are the same set. */
export function freezePrompts(store: Store, { datasetIds, n, seed }: PromptChoice): PromptSet {
  const drawn = [...new Set(datasetIds)].map((id) => {
    const dataset = store.datasets.get(id);
    if (dataset === undefined) throw inputError('DATASET_UNKNOWN', `There is no dataset with id ${id}`);
    const file = heldOutFile(store, dataset.file);
    return { file, records: draw(readDataset(file, interleaveTask), n, seed) };
  });
  const records = withOwnIds(drawn);
  if (records.length === 0)
    throw inputError(
      'EMPTY_DATASET',
      'Expected at least one held-out record, got none',
      'Choose a dataset with held-out records.',
    );
  const datasets = drawn.map(({ file }) => toStoredPath(store.folder, file));
  const id = store.transaction(() =>
    store.promptSets.keep({ hash: hashOf(records), task: 'interleave', datasets, seed, records }),
  );
  return { id, records };
}

/** The records of a stored set. */
export function readPromptSet(store: Pick<Store, 'promptSets'>, id: number): PromptSet {
  return { id, records: store.promptSets.records(id).map((record) => interleaveTask.parseRecord(record)) };
}

/** One record of a stored set; undefined if the set has none with that id. */
export function readPrompt(
  store: Pick<Store, 'promptSets'>,
  id: number,
  recordId: string,
): InterleaveRecord | undefined {
  const found = store.promptSets.records(id).find((record) => (record as { id?: unknown } | null)?.id === recordId);
  return found === undefined ? undefined : interleaveTask.parseRecord(found);
}

/** `n` records by the seed, in the order of the file. */
function draw<T>(records: readonly T[], n: number, seed: number): readonly T[] {
  const order = shuffled([...records.keys()], randomStream(seed, hashString('prompts'))).slice(0, n);
  const chosen = new Set(order);
  return records.filter((_, i) => chosen.has(i));
}

/** Two datasets may use the same ids; the dataset's name then becomes a prefix. */
function withOwnIds(
  drawn: readonly { readonly file: string; readonly records: readonly InterleaveRecord[] }[],
): readonly InterleaveRecord[] {
  const seen = new Set<string>();
  return drawn.flatMap(({ file, records }) =>
    records.map((record) => {
      const id = seen.has(record.id) ? `${basename(file, '.test.jsonl')}/${record.id}` : record.id;
      seen.add(id);
      return { ...record, id };
    }),
  );
}

/** What identifies a prompt set: prompts and targets, in order. */
function hashOf(records: readonly InterleaveRecord[]): string {
  const asked = records.map(({ id, prompt, target }) => [id, prompt, target]);
  return createHash('sha256').update(JSON.stringify(asked)).digest('hex').slice(0, 16);
}

/** The held-out records of a dataset. */
export function heldOutFile(store: Pick<Store, 'folder'>, file: string): string {
  return datasetFiles(fromStoredPath(store.folder, file)).test;
}
