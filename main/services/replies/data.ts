/** The app's reply records: the bundled sample, or an imported file. */
import { join } from 'node:path';
import { datasetFiles } from '../datasets/index.ts';
import type { Library } from '../library/library.ts';
import type { LiveWorkspace } from '../training/live-runs.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { fromStoredPath, toStoredPath } from '../workspace/workspace.ts';
import { readReplyState, remember } from './stored-state.ts';

/** What the reply system needs: the open workspace, its live runs, and the library's threads. */
export interface ReplyHost extends LiveWorkspace {
  readonly library: Library;
}

export interface ReplyData {
  readonly name: string;
  readonly bundled: boolean;
  readonly train: string;
  /** Held out for comparisons; no post is on both sides. */
  readonly test: string;
  readonly records: number;
  readonly heldOut: number;
}

/** Of the bundled sample; a test counts its lines. */
const SAMPLE = { name: 'sample_replies', records: 480, heldOut: 64 } as const;

export function replyData({
  store,
  workspace,
  paths,
}: Pick<OpenWorkspace, 'store' | 'workspace' | 'paths'>): ReplyData {
  const { data } = readReplyState(store);
  if (data === null) return { ...SAMPLE, bundled: true, ...datasetFiles(join(paths.datasets, `${SAMPLE.name}.jsonl`)) };
  const { train, test, ...rest } = data;
  const [from, to] = [train, test].map((path) => fromStoredPath(workspace.root, path));
  return { ...rest, bundled: false, train: from ?? train, test: to ?? test };
}

/**
 * Imports a JSONL of reply records, holding out a tenth of its posts. If a line is invalid, every such line is reported
 * and nothing is imported. The content is transferred to the thread.
 */
export async function importReplies(
  { store, workspace, changes, library }: Pick<ReplyHost, 'store' | 'workspace' | 'changes' | 'library'>,
  name: string,
  content: ArrayBuffer,
): Promise<void> {
  const plain = plainName(name);
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

/** Letters, digits and dashes; 40 of them, of up to four bytes each, fit any file system with what is put around them. */
function plainName(name: string): string {
  const plain = name.replace(/\.[^.]*$/, '').replace(/[^\p{L}\p{M}\p{N}]+/gu, '-');
  return [...plain].slice(0, 40).join('');
}

/** Back to the bundled sample; imported files stay. */
export function chooseSample({ store, changes }: Pick<OpenWorkspace, 'store' | 'changes'>): void {
  remember(store, { data: null, split: null });
  changes.publish('replies');
}
