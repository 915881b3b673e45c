/** The reply system's work on whole files: importing and splitting. */

import { decodeText, faultsError } from '../../io/text-file.ts';
import { writeFilesAtomic } from '../../io/write-files.ts';
import { replyTask } from '../../tasks/reply/task.ts';
import { type DatasetFiles, parseDataset } from '../datasets/index.ts';
import { splitReplies } from '../datasets/reply-split/split.ts';
import {
  replyLines,
  type SplitOutcome,
  type SplitRequest,
  splitReplyFile,
} from '../datasets/reply-split/split-file.ts';

/** The share of imported records for training; the rest is held out. */
const TRAINED = 0.9;
const SEED = 42;
const GIVE = 'Give JSONL, one reply record per line: id, post, reply, engagement {likes, reposts, replies}.';

export interface IncomingReplies {
  /** Its name in errors. */
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly files: DatasetFiles;
}

/** Checks every record, holds out posts, and writes both sides. */
export function importReplies({ name, bytes, files }: IncomingReplies) {
  const content = decodeText(name, bytes);
  if (content.kind === 'bad') throw faultsError('BAD_DATASET', [content.fault], GIVE);
  const records = parseDataset(name, content.value, replyTask);
  const { sft: trained, grpo: heldOut } = splitReplies(records, { ratio: TRAINED, seed: SEED });
  writeFilesAtomic([
    { path: files.train, content: replyLines(trained) },
    { path: files.test, content: replyLines(heldOut) },
  ]);
  return { records: trained.length, heldOut: heldOut.length };
}

/** Splits a file into both phases; the records stay in their files. */
export function splitReplyRecords({ input, folder, ...options }: SplitRequest): SplitOutcome {
  const { split, files } = splitReplyFile(input, folder, options);
  const { sft: _, grpo: __, ...numbers } = split;
  return { split: numbers, files };
}
