/** The records of a small-scale test: some of a dataset, split for its two runs. */
import { join } from 'node:path';
import { inputError } from '../../../errors.ts';
import { writeFilesAtomic } from '../../../io/write-files.ts';
import { hashString, randomStream, shuffled } from '../../../random.ts';
import type { ReplyRecord } from '../../../tasks/reply/record.ts';
import { replyTask } from '../../../tasks/reply/task.ts';
import { readDataset, toJsonLines } from '../index.ts';
import { splitReplies } from './split.ts';

export interface TrialRequest {
  /** Reply records (JSONL). */
  readonly dataset: string;
  readonly examples: number;
  readonly seed: number;
  /** Output folder. */
  readonly folder: string;
}

export interface TrialRecords {
  readonly sft: string;
  readonly grpo: string;
  /** Records used. */
  readonly examples: number;
}

/** Draws the examples and writes both sides. */
export function writeTrialRecords({ dataset, examples, seed, folder }: TrialRequest): TrialRecords {
  const records = someRecords(readDataset(dataset, replyTask), examples, seed);
  const { sft, grpo } = splitReplies(records, { ratio: 0.5, seed });
  const files = { sft: join(folder, 'trial_phase1_sft.jsonl'), grpo: join(folder, 'trial_phase2_grpo.jsonl') };
  writeFilesAtomic([
    { path: files.sft, content: toJsonLines(sft) },
    { path: files.grpo, content: toJsonLines(grpo) },
  ]);
  return { ...files, examples: records.length };
}

function someRecords(records: readonly ReplyRecord[], count: number, seed: number): ReplyRecord[] {
  const chosen = shuffled(records, randomStream(seed, hashString('trial'))).slice(0, count);
  if (chosen.length >= 8) return chosen;
  throw inputError('TRIAL_TOO_SMALL', `Expected at least 8 records for a small-scale test, got ${chosen.length}`);
}
