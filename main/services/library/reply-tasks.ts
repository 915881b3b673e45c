/** What the reply system does with whole files: taking them in, splitting them. */
import { replyTask } from '../../tasks/reply/task.ts';
import { writeFilesAtomic } from '../atomic-write.ts';
import { type DatasetFiles, parseDataset } from '../datasets.ts';
import { splitReplies } from '../replies/split.ts';
import { replyLines, type SplitOutcome, type SplitRequest, splitReplyFile } from '../replies/split-files.ts';
import { decodeText, faultsError } from '../text-file.ts';

/** The share of imported records that is trained on; the rest is held out. */
const TRAINED = 0.9;
const SEED = 42;
const GIVE = 'Give JSONL, one reply record a line: id, post, reply, engagement {likes, reposts, replies}.';

export interface IncomingReplies {
  /** What faults call it. */
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly files: DatasetFiles;
}

/** Checks every record, holds posts back, and writes both sides. */
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
