/** Splits a reply file into the files of the two phases. */

import { join } from 'node:path';
import { inputError } from '../../../errors.ts';
import { writeFilesAtomic } from '../../../io/write-files.ts';
import type { ReplyRecord } from '../../../tasks/reply/record.ts';
import { replyTask } from '../../../tasks/reply/task.ts';
import { barChart } from '../../figures/bar-chart.ts';
import { readDataset } from '../index.ts';
import { type ReplySplit, type SplitOptions, type SplitStatistics, splitReplies } from './split.ts';

export interface SplitFiles {
  readonly sft: string;
  readonly grpo: string;
  /** Engagement before and after, as a figure. */
  readonly figure: string;
}

/** A file to split, and the output folder. */
export interface SplitRequest extends SplitOptions {
  readonly input: string;
  readonly folder: string;
}

/** A split without its records, which are in the files. */
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

/** The records as JSONL: the default prompt that the reader adds is left out again. */
export function replyLines(records: readonly ReplyRecord[]): string {
  const plain = records.map((record) => {
    const { prompt, ...rest } = record;
    return prompt === replyTask.parseRecord(rest).prompt ? rest : record;
  });
  return plain.map((record) => `${JSON.stringify(record)}\n`).join('');
}

/** SVG: the share of records in each quartile of the whole dataset's engagement. */
function splitFigure({ before, after, borders }: ReplySplit): string {
  const [low, middle, high] = borders.map((border) => String(Math.round(border)));
  const shares = ({ quartiles, records }: SplitStatistics) => quartiles.map((count) => ({ value: count / records }));
  return barChart({
    title: 'Engagement before and after the split',
    yLabel: 'share of the records',
    groups: [`up to ${low}`, `up to ${middle}`, `up to ${high}`, `above ${high}`],
    series: [
      { name: `all (${before.records})`, bars: shares(before) },
      { name: `phase 1, sft (${after.sft.records})`, bars: shares(after.sft) },
      { name: `phase 2, grpo (${after.grpo.records})`, bars: shares(after.grpo) },
    ],
  });
}
