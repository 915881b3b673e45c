/** The split of a complete run from the command line, kept where the app looks for it. */
import { existsSync } from 'node:fs';
import type { SplitOptions } from '../datasets/reply-split/split.ts';
import { type SplitOutcome, splitReplyFile } from '../datasets/reply-split/split-file.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { replyData } from './data.ts';
import { phaseFiles } from './methods.ts';
import { readReplyState, remember, type SplitRecord } from './stored-state.ts';

/** What the app remembers of a split. */
export function splitRecord(
  { borders, before, after, checks }: SplitOutcome['split'],
  { ratio, seed }: SplitOptions,
  at: number,
): SplitRecord {
  return { ratio, seed, at, borders, before, after, checks };
}

/**
 * Splits the bundled replies into the workspace's files, so that the app can start single methods from them. Leaves
 * everything as it is if the person has imported records, or a split is there already.
 */
export function keepSplit(app: Pick<OpenWorkspace, 'store' | 'workspace' | 'paths'>, options: SplitOptions): void {
  const { data } = readReplyState(app.store);
  if (data !== null || phaseFiles(app.workspace).some((file) => existsSync(file))) return;
  const { split } = splitReplyFile(replyData(app).train, app.workspace.datasets, options);
  remember(app.store, { split: splitRecord(split, options, app.store.now()) });
}
