/** Facts about records for the checklist: how many a file has, and which prompts two files share. */
import { BraidError } from '../../errors.ts';
import { openTask, type TaskSource } from '../../tasks/index.ts';
import { readDataset } from './index.ts';

export interface RecordQuestion {
  readonly task: TaskSource;
  readonly files: readonly string[];
}

/** An unreadable file, or one with an invalid line, gives the reason. */
export type FileFacts =
  | { readonly kind: 'good'; readonly records: number }
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
    (prompts): FileFacts =>
      typeof prompts === 'string' ? { kind: 'bad', reason: prompts } : { kind: 'good', records: prompts.length },
  );
  const shared = read.flatMap((prompts, first) => {
    if (typeof prompts === 'string') return [];
    const known = new Set(prompts);
    return read.slice(first + 1).flatMap((others, offset) => {
      if (typeof others === 'string') return [];
      return [{ first, second: first + 1 + offset, records: others.filter((prompt) => known.has(prompt)).length }];
    });
  });
  return { files: facts, shared };
}

function promptsOf(file: string, task: RecordQuestion['task']): readonly string[] | string {
  try {
    // Records are read without the reward, so it starts no thread.
    return readDataset(file, openTask(task, '')).map(({ prompt }) => prompt);
  } catch (error) {
    if (error instanceof BraidError) return error.message;
    throw error;
  }
}
