/** The reply records that the app works on: the bundled sample, or a file that the person brought. */
import { join } from 'node:path';
import { replyTask } from '../../tasks/reply/task.ts';
import type { App } from '../app.ts';
import { writeFilesAtomic } from '../atomic-write.ts';
import { datasetFiles, parseDataset } from '../datasets.ts';
import { decodeText, faultsError } from '../text-file.ts';
import { fromStoredPath, toStoredPath } from '../workspace.ts';
import { readMemory, remember } from './memory.ts';
import { splitReplies } from './split.ts';
import { replyLines } from './split-files.ts';

export interface ReplyData {
  readonly name: string;
  readonly bundled: boolean;
  readonly train: string;
  /** Held out for comparisons; no post stands on both sides. */
  readonly test: string;
}

/** The share of imported records that is trained on; the rest is held out. */
const TRAINED = 0.9;
const SEED = 42;

export function replyData({ store, workspace, paths }: Pick<App, 'store' | 'workspace' | 'paths'>): ReplyData {
  const { data } = readMemory(store);
  if (data === null) {
    const files = datasetFiles(join(paths.datasets, 'sample_replies.jsonl'));
    return { name: 'sample_replies', bundled: true, ...files };
  }
  const { name, train, test } = data;
  const [from, to] = [train, test].map((path) => fromStoredPath(workspace.root, path));
  return { name, bundled: false, train: from ?? train, test: to ?? test };
}

/** Takes a JSONL of reply records in, a tenth of its posts held out; every bad line is named, and then nothing is. */
export function importReplies(
  { store, workspace, changes }: Pick<App, 'store' | 'workspace' | 'changes'>,
  name: string,
  bytes: Uint8Array,
): void {
  const content = decodeText(name, bytes);
  if (content.kind === 'bad') throw faultsError('BAD_DATASET', [content.fault], GIVE);
  const records = parseDataset(name, content.value, replyTask);
  const { sft: trained, grpo: heldOut } = splitReplies(records, { ratio: TRAINED, seed: SEED });
  const plain = name.replace(/\.[^.]*$/, '').replace(/[^\p{L}\p{N}]+/gu, '-');
  const files = datasetFiles(join(workspace.datasets, `replies-${plain}.jsonl`));
  writeFilesAtomic([
    { path: files.train, content: replyLines(trained) },
    { path: files.test, content: replyLines(heldOut) },
  ]);
  const stored = (path: string): string => toStoredPath(workspace.root, path);
  remember(store, { data: { name: plain, train: stored(files.train), test: stored(files.test) }, split: null });
  changes.publish('replies');
}

/** Back to the bundled sample; imported files stay. */
export function chooseSample({ store, changes }: Pick<App, 'store' | 'changes'>): void {
  remember(store, { data: null, split: null });
  changes.publish('replies');
}

const GIVE = 'Give JSONL, one reply record a line: id, post, reply, engagement {likes, reposts, replies}.';
