/** A reply file in, the files of the two phases out. */
import { join } from 'node:path';
import { inputError } from '../../errors.ts';
import type { ReplyRecord } from '../../tasks/reply/record.ts';
import { replyTask } from '../../tasks/reply/task.ts';
import { writeFilesAtomic } from '../atomic-write.ts';
import { readDataset } from '../datasets.ts';
import { type ReplySplit, type SplitOptions, splitReplies } from './split.ts';
import { splitFigure } from './split-figure.ts';

export interface SplitFiles {
  readonly sft: string;
  readonly grpo: string;
  /** Engagement before and after, as a figure. */
  readonly figure: string;
}

/** A file to split, and where its phases go. */
export interface SplitRequest extends SplitOptions {
  readonly input: string;
  readonly folder: string;
}

/** A split without its records, which lie in their files. */
export interface SplitOutcome {
  readonly split: Omit<ReplySplit, 'sft' | 'grpo'>;
  readonly files: SplitFiles;
}

/** Splits a file and writes both phases and the figure, all or nothing. */
export function splitReplyFile(
  input: string,
  folder: string,
  options: SplitOptions,
): { readonly split: ReplySplit; readonly files: SplitFiles } {
  const records = readDataset(input, replyTask);
  const split = splitReplies(records, options);
  const files: SplitFiles = {
    sft: join(folder, 'train_phase1_sft.jsonl'),
    grpo: join(folder, 'train_phase2_grpo.jsonl'),
    figure: join(folder, 'split.svg'),
  };
  if ([files.sft, files.grpo].includes(input))
    throw inputError('BAD_OPTION', `Expected an output folder that doesn't hold the input, got ${folder}`);
  writeFilesAtomic([
    { path: files.sft, content: replyLines(split.sft) },
    { path: files.grpo, content: replyLines(split.grpo) },
    { path: files.figure, content: splitFigure(split) },
  ]);
  return { split, files };
}

/** As lines of a file, as they came: the prompt that the reader adds is left out again where it is the usual one. */
export function replyLines(records: readonly ReplyRecord[]): string {
  const plain = records.map((record) => {
    const { prompt, ...rest } = record;
    return prompt === replyTask.parseRecord(rest).prompt ? rest : record;
  });
  return plain.map((record) => `${JSON.stringify(record)}\n`).join('');
}
