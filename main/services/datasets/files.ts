/** Dataset files: JSONL, written whole, read strictly. */
import { inputError } from '../../errors.ts';
import type { FileOps } from '../../files.ts';
import type { Task, TaskRecord } from '../../tasks/task.ts';
import { type NewFile, writeFilesAtomic } from '../atomic-write.ts';
import { jsonPlaces } from '../json-places.ts';
import { type FileFault, faultsError, readTextFile } from '../text-file.ts';

/** Where a dataset and its held-out records lie. */
export interface DatasetFiles {
  readonly train: string;
  readonly test: string;
}

/** The test file beside `X.jsonl` is `X.test.jsonl`; either name gives both. */
export function datasetFiles(file: string): DatasetFiles {
  if (!file.endsWith('.jsonl')) return { train: file, test: `${file}.test.jsonl` };
  const stem = file.replace(/(?:\.test)?\.jsonl$/, '');
  return { train: `${stem}.jsonl`, test: `${stem}.test.jsonl` };
}

/** Records as JSONL. */
export function toJsonLines(records: readonly TaskRecord[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

/** Writes a dataset and its held-out records, both or neither. */
export function writeDataset(
  file: string,
  dataset: { readonly train: readonly TaskRecord[]; readonly test: readonly TaskRecord[] },
  ops?: FileOps,
): DatasetFiles {
  const files = datasetFiles(file);
  const contents: NewFile[] = [
    { path: files.test, content: toJsonLines(dataset.test) },
    { path: files.train, content: toJsonLines(dataset.train) },
  ];
  writeFilesAtomic(contents, ops);
  return files;
}

/** Reads a dataset: every record, or an error that names every bad line. */
export function readDataset<R extends TaskRecord>(file: string, task: Task<R>): R[] {
  const content = readTextFile(file);
  if (content.kind === 'bad')
    throw faultsError('BAD_DATASET', [content.fault], 'Give a JSONL dataset; `braid dataset` makes one.');
  const faults: FileFault[] = [];
  const records: R[] = [];
  const lines = new Map<string, number>();
  content.value.split('\n').forEach((row, i) => {
    if (row.trim() === '') return;
    const line = i + 1;
    const read = readLine(row, task);
    const first = read.kind === 'record' ? lines.get(read.record.id) : undefined;
    if (read.kind === 'fault') faults.push({ file, line, reason: read.reason });
    else if (first !== undefined)
      faults.push({ file, line, reason: `expected an id of its own, got "${read.record.id}" as on line ${first}` });
    else {
      lines.set(read.record.id, line);
      records.push(read.record);
    }
  });
  if (faults.length > 0) throw faultsError('BAD_DATASET', faults, 'Mend these lines, or make the dataset anew.');
  if (records.length === 0) throw inputError('BAD_DATASET', `${file}: expected at least one record, got none`);
  return records;
}

type LineRead<R> =
  | { readonly kind: 'record'; readonly record: R }
  | { readonly kind: 'fault'; readonly reason: string };

function readLine<R extends TaskRecord>(row: string, task: Task<R>): LineRead<R> {
  let value: unknown;
  try {
    value = JSON.parse(row);
  } catch {
    const { fault } = jsonPlaces(row);
    return {
      kind: 'fault',
      reason: `not JSON: ${fault?.reason ?? 'unreadable'} at column ${(fault?.offset ?? 0) + 1}`,
    };
  }
  try {
    return { kind: 'record', record: task.parseRecord(value) };
  } catch (error) {
    return { kind: 'fault', reason: (error as Error).message };
  }
}
