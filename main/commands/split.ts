/** `braid split`: divides a reply dataset for supervised fine-tuning and GRPO. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import type { SplitStatistics } from '../services/datasets/reply-split/split.ts';
import { splitReplyFile } from '../services/datasets/reply-split/split-file.ts';
import { commandContext, withCommonOptions } from './shared.ts';
import { tableLines } from './table.ts';

interface SplitCommandOptions {
  readonly input: string;
  readonly outputDir: string;
  readonly splitRatio: string;
}

/** Adds `split` to the program. */
export function registerSplit(program: Command): void {
  withCommonOptions(program.command('split'))
    .requiredOption('--input <file>', 'reply records (JSONL): id, post, reply, engagement')
    .requiredOption('--output-dir <dir>', 'folder for train_phase1_sft.jsonl and train_phase2_grpo.jsonl')
    .option('--split-ratio <share>', 'share of the first phase', '0.5')
    .action((options: SplitCommandOptions, command: Command) => split(options, command));
}

function split(options: SplitCommandOptions, command: Command): void {
  const context = commandContext(command);
  const { split: made, files } = splitReplyFile(resolve(options.input), resolve(options.outputDir), {
    ratio: ratioOf(options.splitRatio),
    seed: context.seed,
  });
  const { before, after, checks, duplicates, borders } = made;
  const rows = [row('before', before), row('phase 1: sft', after.sft), row('phase 2: grpo', after.grpo)];
  for (const line of tableLines(HEADINGS, rows)) context.print(line);
  for (const { ok, name, detail } of checks) context.print(`${ok ? 'OK  ' : 'WARN'} ${name}: ${detail}`);
  context.print(`Written: ${files.sft}, ${files.grpo}, ${files.figure}`);
  context.out({ ...files, seed: context.seed, borders, before, after, duplicates, checks });
}

const HEADINGS = ['', 'records', 'posts', 'mean', 'median', 'highest', 'quartiles', 'words'];

function row(name: string, s: SplitStatistics): (string | number)[] {
  return [
    name,
    s.records,
    s.posts,
    Number(s.mean_engagement.toFixed(2)),
    s.median_engagement,
    s.highest_engagement,
    s.quartiles.join(' '),
    s.mean_reply_words.toFixed(1),
  ];
}

function ratioOf(value: string): number {
  const ratio = Number(value);
  if (value.trim() !== '' && ratio > 0 && ratio < 1) return ratio;
  throw inputError('BAD_OPTION', `Expected --split-ratio to be a number between 0 and 1, got "${value}"`);
}
