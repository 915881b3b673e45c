/** The reply records that the app works on: the bundled sample, or a file that the person brought. */
import { join } from 'node:path';
import type { App } from '../app.ts';
import { datasetFiles } from '../datasets.ts';
import { fromStoredPath, toStoredPath } from '../workspace.ts';
import { readMemory, remember } from './memory.ts';

export interface ReplyData {
  readonly name: string;
  readonly bundled: boolean;
  readonly train: string;
  /** Held out for comparisons; no post stands on both sides. */
  readonly test: string;
  readonly records: number;
  readonly heldOut: number;
}

/** Of the sample that ships with the program; a test counts its lines. */
const SAMPLE = { name: 'sample_replies', records: 480, heldOut: 64 } as const;

export function replyData({ store, workspace, paths }: Pick<App, 'store' | 'workspace' | 'paths'>): ReplyData {
  const { data } = readMemory(store);
  if (data === null) return { ...SAMPLE, bundled: true, ...datasetFiles(join(paths.datasets, `${SAMPLE.name}.jsonl`)) };
  const { train, test, ...rest } = data;
  const [from, to] = [train, test].map((path) => fromStoredPath(workspace.root, path));
  return { ...rest, bundled: false, train: from ?? train, test: to ?? test };
}

/**
 * Takes a JSONL of reply records in, a tenth of its posts held out; every bad line is named, and then nothing is. The
 * content is given away to the thread.
 */
export async function importReplies(
  { store, workspace, changes, library }: Pick<App, 'store' | 'workspace' | 'changes' | 'library'>,
  name: string,
  content: ArrayBuffer,
): Promise<void> {
  const plain = name.replace(/\.[^.]*$/, '').replace(/[^\p{L}\p{N}]+/gu, '-');
  const files = datasetFiles(join(workspace.datasets, `replies-${plain}.jsonl`));
  const { records, heldOut } = await library.workers.run(
    'importReplies',
    { name, bytes: new Uint8Array(content), files },
    { transfer: [content] },
  );
  const stored = (path: string): string => toStoredPath(workspace.root, path);
  const data = { name: plain, train: stored(files.train), test: stored(files.test), records, heldOut };
  remember(store, { data, split: null });
  changes.publish('replies');
}

/** Back to the bundled sample; imported files stay. */
export function chooseSample({ store, changes }: Pick<App, 'store' | 'changes'>): void {
  remember(store, { data: null, split: null });
  changes.publish('replies');
}
