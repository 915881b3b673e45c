/** Dataset files: JSONL, written whole, read strictly. */
import { inputError } from '../../errors.ts';
import type { FileOps } from '../../files.ts';
import type { Task, TaskRecord } from '../../tasks/task.ts';
import { type NewFile, writeFilesAtomic } from '../atomic-write.ts';
import { parseJsonLines, readJsonLines } from '../json-lines.ts';

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

const WORDS = {
  code: 'BAD_DATASET',
  give: 'Give a JSONL dataset; `braid dataset` makes one.',
  mend: 'Mend these lines, or make the dataset anew.',
  item: 'record',
};

/** Reads a dataset: every record, or an error that names every bad line. */
export function readDataset<R extends TaskRecord>(file: string, task: Task<R>): R[] {
  return readJsonLines(file, WORDS, recordReader(task));
}

/** The same for a content by its name, such as a file that a page hands in. */
export function parseDataset<R extends TaskRecord>(name: string, text: string, task: Task<R>): R[] {
  return parseJsonLines(name, text, WORDS, recordReader(task));
}

function recordReader<R extends TaskRecord>(task: Task<R>): (value: unknown, line: number) => R {
  const lines = new Map<string, number>();
  return (value, line) => {
    const record = task.parseRecord(value);
    const first = lines.get(record.id);
    if (first !== undefined) {
      throw inputError('BAD_DATASET', `expected an id of its own, got "${record.id}" as on line ${first}`);
    }
    lines.set(record.id, line);
    return record;
  };
}
