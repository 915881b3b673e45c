/** Dataset files: JSONL, written atomically, read strictly. */
import { basename } from 'node:path';
import { inputError } from '../../errors.ts';
import type { FileOps } from '../../io/atomic-write.ts';
import { isJsonObject } from '../../io/json.ts';
import { parseJsonLines, readJsonLines } from '../../io/json-lines.ts';
import { type NewFile, writeFilesAtomic } from '../../io/write-files.ts';
import { isConversation } from '../../tasks/folder/conversation.ts';
import { nativeTask } from '../../tasks/index.ts';
import type { Task, TaskRecord } from '../../tasks/task.ts';

/** The files of a dataset and its held-out records. */
export interface DatasetFiles {
  readonly train: string;
  readonly test: string;
}

/** The test file of `X.jsonl` is `X.test.jsonl`; either name gives both. */
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

/** What to do without the file. */
export const GIVE_DATASET = 'Give a JSONL dataset; Texts & datasets makes one.';

const WORDS = {
  code: 'BAD_DATASET',
  give: GIVE_DATASET,
  fix: 'Fix these lines, or generate the dataset again.',
  item: 'record',
};

/** Reads a dataset: every record, or an error that lists every invalid line; `fix` is what to do about them. */
export function readDataset<R extends TaskRecord>(file: string, task: Task<R>, fix = WORDS.fix): R[] {
  return orAnotherTask(file, task, (read) => readJsonLines(file, { ...WORDS, fix }, read));
}

/** The same for named content, such as a file from the page. */
export function parseDataset<R extends TaskRecord>(name: string, text: string, task: Task<R>): R[] {
  return orAnotherTask(name, task, (read) => parseJsonLines(name, text, WORDS, read));
}

/** Reads records; where Braid's own task is given those of another, says so instead of listing what each line lacks. */
function orAnotherTask<R extends TaskRecord>(
  file: string,
  task: Task<R>,
  records: (read: (value: unknown, line: number) => R) => R[],
): R[] {
  const read = recordReader(task);
  const own = OWN_FIELDS[task.name];
  let spoken = 0;
  let foreign = null as readonly string[] | null;
  let isOwn = own === undefined;
  try {
    return records((value, line) => {
      const names = isJsonObject(value) ? Object.keys(value) : [];
      if (names.every((name) => IN_ANY.includes(name)) || own?.some((name) => names.includes(name))) isOwn = true;
      try {
        return read(value, line);
      } catch (error) {
        if (isJsonObject(value) && Object.values(value).some(isConversation)) spoken++;
        foreign ??= names;
        throw error;
      }
    });
  } catch (error) {
    if (spoken > 0 && nativeTask(task.name) !== undefined)
      throw inputError(
        'CONVERSATIONS',
        `${file} holds conversations, which the task "${task.name}" doesn't take`,
        `Use the task "conversation": train with --task conversation, or import them by \`braid dataset import ${basename(file)} --task conversation\`.`,
      );
    if (isOwn || foreign === null) throw error;
    throw inputError(
      'OTHER_RECORDS',
      `${file} holds records of another task than "${task.name}": they have ${foreign.slice(0, 8).join(', ')}`,
      'Name their task: --task NAME, or `task` in the settings of the run.',
    );
  }
}

/** Fields that say nothing of a record's task. */
const IN_ANY: readonly string[] = ['id', 'prompt', 'target'];

/** Of Braid's own tasks: a record without any of these is another task's. */
const OWN_FIELDS: Readonly<Record<string, readonly string[]>> = {
  interleave: ['words', 'title_a', 'title_b', 'fragment_a', 'fragment_b'],
  reply: ['post', 'reply', 'engagement'],
};

function recordReader<R extends TaskRecord>(task: Task<R>): (value: unknown, line: number) => R {
  const lines = new Map<string, number>();
  return (value, line) => {
    const record = task.parseRecord(value, line);
    const first = lines.get(record.id);
    if (first !== undefined) {
      throw inputError('BAD_DATASET', `expected a unique id, got "${record.id}" as on line ${first}`);
    }
    lines.set(record.id, line);
    return record;
  };
}
