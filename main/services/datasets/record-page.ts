/** Parts of a file of records of a folder's task. They are read in the text worker's thread, as the file may be large. */
import { BraidError, inputError } from '../../errors.ts';
import { readJsonLines } from '../../io/json-lines.ts';
import { faultsError } from '../../io/text-file.ts';
import { hashString, randomStream, shuffled } from '../../random.ts';
import type { ChatMessage } from '../../samples/chat-message.ts';
import { promptMessages } from '../../tasks/folder/environment.ts';
import type { FolderSource } from '../../tasks/folder/source.ts';
import { openTask } from '../../tasks/index.ts';
import type { Task, TaskRecord } from '../../tasks/task.ts';

/** A file of records, and the task that they are of. */
export interface RecordsOfTask {
  readonly task: FolderSource;
  readonly file: string;
}

/** A record, or why it isn't one of this task. */
export type DraftRecord =
  | {
      readonly kind: 'record';
      readonly line: number;
      readonly id: string;
      readonly prompt: string;
      readonly messages: readonly ChatMessage[] | null;
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

/** A record as its file has it and as its task reads it. */
export interface DrawnRecord {
  readonly line: number;
  readonly fields: unknown;
  readonly record: TaskRecord;
}

/** A page of records as the task reads them; faults are listed first, as they have to be fixed. */
export function recordPage({
  offset,
  limit,
  ...from
}: RecordsOfTask & { readonly offset: number; readonly limit: number }): DraftRecords {
  // Records are read without the reward, so it starts no thread.
  const task = openTask(from.task, '');
  const read = rawLines(from.file).map(({ line, fields }) => draftRecord(task, line, fields));
  const faults = read.filter(({ kind }) => kind === 'fault');
  const ordered = [...faults, ...read.filter(({ kind }) => kind === 'record')];
  return { file: from.file, total: read.length, faults: faults.length, records: ordered.slice(offset, offset + limit) };
}

/** One record of a file, counted from 0. */
export function recordAt({ task: source, file, index }: RecordsOfTask & { readonly index: number }): {
  readonly record: TaskRecord;
  readonly reference: string;
  readonly total: number;
} {
  const task = openTask(source, '');
  const lines = rawLines(file);
  const found = lines[index];
  if (found === undefined)
    throw inputError(
      'NO_SUCH_RECORD',
      `There is no record ${index + 1}: the file has ${lines.length}`,
      'Choose another.',
    );
  const record = inLine(file, found.line, () => task.parseRecord(found.fields, found.line));
  return { record, reference: task.target(record), total: lines.length };
}

/** Some records of a file, drawn by a seed. */
export function drawRecords({
  task: source,
  file,
  count,
  seed,
}: RecordsOfTask & { readonly count: number; readonly seed: number }): DrawnRecord[] {
  const task = openTask(source, '');
  const chosen = shuffled(rawLines(file), randomStream(seed, hashString('trial'))).slice(0, count);
  return chosen.map(({ fields, line }) => ({ fields, line, record: task.parseRecord(fields, line) }));
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
    const { id, prompt } = record;
    const messages = record.messages === undefined ? null : promptMessages(record);
    // What parseRecord has accepted is an object.
    const own = fields as Readonly<Record<string, unknown>>;
    return { kind: 'record', line, id, prompt, messages, reference: task.target(record), fields: own };
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
