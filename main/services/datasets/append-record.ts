/** Adds a record to one side of a dataset's files, in a thread: all records are read, and the file is written again. */
import { existsSync, statSync } from 'node:fs';
import { readRegular } from '../../io/read-file.ts';
import { writeFilesAtomic } from '../../io/write-files.ts';
import type { DatasetLeakage } from '../../store/datasets.ts';
import { openTask, type TaskSource } from '../../tasks/index.ts';
import type { TaskRecord } from '../../tasks/task.ts';
import { type DatasetFiles, readDataset } from './files.ts';
import { countLeakage, findRecordLeakage } from './leakage.ts';

export interface AppendOptions {
  readonly task: TaskSource;
  /** Neither has to exist yet. */
  readonly files: DatasetFiles;
  readonly side: 'train' | 'test';
  /** Of the record, without its id. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Its id begins so: `chat` gives `chat-1`, or the next one that is free. */
  readonly idStem: string;
}

export interface Appended {
  readonly id: string;
  readonly trainN: number;
  readonly testN: number;
  readonly leakage: DatasetLeakage | null;
}

/** Throws BAD_RECORD where the task can't take it, and what is wrong with the files; nothing is written then. */
export function appendRecord({ task: source, files, side, fields, idStem }: AppendOptions): Appended {
  // Records are read without the reward, so it starts no thread.
  const task = openTask(source, '');
  const read = (file: string): readonly TaskRecord[] => (isEmpty(file) ? [] : readDataset(file, task));
  const before = { train: read(files.train), test: read(files.test) };
  const taken = new Set([...before.train, ...before.test].map(({ id }) => id));
  let number = taken.size + 1;
  while (taken.has(`${idStem}-${number}`)) number++;
  const line = { id: `${idStem}-${number}`, ...fields };
  const record = task.parseRecord(line, before[side].length + 1);
  const train = side === 'train' ? [...before.train, record] : before.train;
  const test = side === 'test' ? [...before.test, record] : before.test;
  const file = files[side];
  const text = existsSync(file) ? readRegular(file).toString('utf8') : '';
  const gap = text === '' || text.endsWith('\n') ? '' : '\n';
  const contents = [{ path: file, content: `${text}${gap}${JSON.stringify(line)}\n` }];
  // A dataset has both files.
  if (side === 'train' && !existsSync(files.test)) contents.push({ path: files.test, content: '' });
  writeFilesAtomic(contents);
  return {
    id: line.id,
    trainN: train.length,
    testN: test.length,
    leakage: test.length === 0 ? null : countLeakage(findRecordLeakage(task, train, test)),
  };
}

/** A dataset without held-out records has an empty file of them. */
function isEmpty(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
}
