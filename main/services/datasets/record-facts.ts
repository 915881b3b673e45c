/** Facts about records for the checklist: how many a file has, and which prompts two files share. */
import { BraidError } from '../../errors.ts';
import { missingFields } from '../../tasks/folder/missing-fields.ts';
import { openTask, type TaskSource } from '../../tasks/index.ts';
import { readDataset } from './index.ts';

export interface RecordQuestion {
  readonly task: TaskSource;
  readonly files: readonly string[];
}

/** `missing`: fields that the reward reads and some records lack. An unreadable file, or one with an invalid line, gives the reason. */
export type FileFacts =
  | { readonly kind: 'good'; readonly records: number; readonly missing: readonly string[] }
  | { readonly kind: 'bad'; readonly reason: string };

export interface RecordFacts {
  /** In the order of the files. */
  readonly files: readonly FileFacts[];
  /** Records of a later file whose prompt an earlier one has too. */
  readonly shared: readonly { readonly first: number; readonly second: number; readonly records: number }[];
}

/** Reads the files and compares their prompts. */
export function recordFacts({ task, files }: RecordQuestion): RecordFacts {
  const read = files.map((file) => promptsOf(file, task));
  const facts = read.map(
    (found): FileFacts =>
      typeof found === 'string'
        ? { kind: 'bad', reason: found }
        : { kind: 'good', records: found.prompts.length, missing: found.missing },
  );
  const shared = read.flatMap((found, first) => {
    if (typeof found === 'string') return [];
    const known = new Set(found.prompts);
    return read.slice(first + 1).flatMap((other, offset) => {
      if (typeof other === 'string') return [];
      const records = other.prompts.filter((prompt) => known.has(prompt)).length;
      return [{ first, second: first + 1 + offset, records }];
    });
  });
  return { files: facts, shared };
}

interface RecordsRead {
  readonly prompts: readonly string[];
  readonly missing: readonly string[];
}

function promptsOf(file: string, task: RecordQuestion['task']): RecordsRead | string {
  try {
    // Records are read without the reward, so it starts no thread.
    const records = readDataset(file, openTask(task, ''));
    const missing = typeof task === 'string' ? [] : missingFields(task, records);
    return { prompts: records.map(({ prompt }) => prompt), missing };
  } catch (error) {
    if (error instanceof BraidError) return error.message;
    throw error;
  }
}
