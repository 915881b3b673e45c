/** Records of a task that is being written: shown as the prompts that they become, and completed by a model. */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { BraidError, inputError } from '../../errors.ts';
import { readJsonLines } from '../../io/json-lines.ts';
import { faultsError } from '../../io/text-file.ts';
import { hashString, randomStream, shuffled } from '../../random.ts';
import type { FolderSource } from '../../tasks/folder/source.ts';
import { openTask } from '../../tasks/index.ts';
import type { Task, TaskMessage, TaskRecord } from '../../tasks/task.ts';
import { counted } from '../../text/format.ts';
import { datasetFiles } from '../datasets/index.ts';
import { requireModel } from '../models/list.ts';
import { resolveModelParts } from '../models/resolve.ts';
import { readTask } from '../tasks/task-list.ts';
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

/** A record, or why it isn't one of this task. */
export type DraftRecord =
  | {
      readonly kind: 'record';
      readonly line: number;
      readonly id: string;
      readonly prompt: string;
      readonly messages: readonly TaskMessage[] | null;
      /** Empty: the task has none. */
      readonly reference: string;
      readonly fields: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'fault'; readonly line: number; readonly reason: string };

export interface DraftRecords {
  readonly file: string;
  readonly total: number;
  readonly faults: number;
  readonly records: readonly DraftRecord[];
}

type Place = DraftPlace & Pick<OpenWorkspace, 'workspace' | 'jobs' | 'paths'>;

/** What is needed to read a task's records. */
export type RecordPlace = Pick<DraftPlace, 'store' | 'paths'>;

/** What records there are for a task: its own first, then datasets made for it. */
export function recordsSources({ store, paths }: RecordPlace, name: string): RecordsSource[] {
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
    ...(records === null ? [] : sides(records, 'Its own records', null)),
    ...made.flatMap(({ id, name, file }) => sides(fromStoredPath(store.folder, file), name, id)),
  ];
}

/** A page of records as the draft reads them; faults are listed first, as they have to be fixed. */
export function draftRecords(
  place: DraftPlace,
  draft: Draft,
  choice: RecordsChoice,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): DraftRecords {
  const task = openTask(draftSource(draft, place), '');
  const file = recordsFile(place, draft.name, choice);
  const read = rawLines(file).map(({ line, fields }) => draftRecord(task, line, fields));
  const faults = read.filter(({ kind }) => kind === 'fault');
  const ordered = [...faults, ...read.filter(({ kind }) => kind === 'record')];
  return { file, total: read.length, faults: faults.length, records: ordered.slice(offset, offset + limit) };
}

/** One record of a file, counted from 0, of a task as it is saved. */
export function recordAt(
  place: RecordPlace,
  source: FolderSource,
  choice: RecordsChoice,
  index: number,
): { readonly record: TaskRecord; readonly reference: string; readonly total: number } {
  // Records are read without the reward, so it starts no thread.
  const task = openTask(source, '');
  const file = recordsFile(place, source.name, choice);
  const lines = rawLines(file);
  const found = lines[index];
  if (found === undefined)
    throw inputError(
      'NO_SUCH_RECORD',
      `There is no record ${index + 1}: the file has ${lines.length}`,
      'Choose another.',
    );
  const record = inLine(file, found.line, () => task.parseRecord(found.fields, found.line));
  return { record, reference: task.reference(record), total: lines.length };
}

/** What is wrong in a line, with the file and the line. */
function inLine<T>(file: string, line: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof BraidError)) throw error;
    throw faultsError(WORDS.code, [{ file, line, reason: error.message }], WORDS.fix);
  }
}

function draftRecord(task: Task, line: number, fields: unknown): DraftRecord {
  try {
    const record = task.parseRecord(fields, line);
    const { id, prompt, messages = null } = record;
    // What parseRecord has accepted is an object.
    const own = fields as Readonly<Record<string, unknown>>;
    return { kind: 'record', line, id, prompt, messages, reference: task.reference(record), fields: own };
  } catch (error) {
    if (error instanceof BraidError) return { kind: 'fault', line, reason: error.message };
    throw error;
  }
}

interface RawLine {
  readonly line: number;
  readonly fields: unknown;
}

const WORDS = { code: 'BAD_DATASET', give: 'Give a JSONL dataset.', fix: 'Fix these lines.', item: 'record' };

function rawLines(file: string): RawLine[] {
  return readJsonLines(file, WORDS, (fields, line) => ({ line, fields }));
}

function recordsFile({ store, paths }: RecordPlace, name: string, { datasetId, side }: RecordsChoice): string {
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
  const task = openTask(source, '');
  const lines = rawLines(recordsFile(place, draft.name, request));
  const chosen = shuffled(lines, randomStream(seed, hashString('trial'))).slice(0, prompts);
  const records = chosen.map(({ fields, line }) => task.parseRecord(fields, line));
  const { name, folder } = requireModel(place, request.model);
  const model = { name, ...resolveModelParts(folder, place.paths) };
  const { result } = place.jobs.start(
    'trial-sample',
    `Sample ${counted(records.length * samples, 'completion')} with ${name}`,
    (job) =>
      runTrainerJob(
        {
          ...{ kind: 'sample', task: source, models: [model], records, samples, temperature, seed },
          ...{ batchSize: Math.max(1, Math.floor(ROWS / samples)), maxCompletionLength: null },
          ...{ backend: 'auto', threads: availableParallelism(), kernelsFile: place.paths.kernels },
          rewardWorker: place.paths.rewardWorker,
        },
        place.paths.trainer,
        { signal: job.signal, onProgress: job.progress },
      ),
  );
  const sampled = (await result).value.models[0];
  const answers = chosen.flatMap(({ fields, line }, i) =>
    (sampled?.completions[i] ?? []).map((completion, k) => {
      const { tokens = 0, ended = true } = sampled?.lengths[i]?.[k] ?? {};
      const finish = ended ? ('stop' as const) : ('length' as const);
      const messages = sampled?.messages?.[i]?.[k];
      return { fields, line, completion, tokens, finish, ...(messages && { messages }) };
    }),
  );
  return place.sampled.keep(answers);
}

/** Completions decoded together. */
const ROWS = 128;
