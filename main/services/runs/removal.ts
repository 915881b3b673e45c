/** What removing a run deletes and what depends on it, for the confirmation. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../store/index.ts';
import { ownRunFolder } from '../workspace/own-folders.ts';
import { refreshCheckpoints } from './history.ts';
import { requireRun } from './runs.ts';

export interface Removal {
  /** Absolute; it goes with all that is in it. Null: it is not one that Braid made in this workspace, and stays. */
  readonly folder: string | null;
  readonly bytes: number;
  readonly steps: number;
  readonly samples: number;
  readonly evaluations: number;
  /** Steps of the existing checkpoints. */
  readonly checkpoints: readonly number[];
  /** Runs that started from one of these checkpoints. They are kept, but can't start from it again. */
  readonly descendants: readonly { readonly id: number; readonly name: string; readonly fromStep: number | null }[];
}

/** What `removeRun` would delete now. */
export function removalOf(store: Store, runId: number): Removal {
  const run = requireRun(store, runId);
  const folder = ownRunFolder(store, run.folder);
  return {
    folder,
    bytes: folder === null ? 0 : bytesIn(folder),
    steps: run.step,
    samples: store.samples.count(runId),
    evaluations: store.evaluations.ofRun(runId).length,
    checkpoints: refreshCheckpoints(store, runId)
      .filter(({ deletedAt }) => deletedAt === null)
      .map(({ step }) => step),
    descendants: store.runs
      .descendants(runId)
      .filter(({ depth }) => depth === 1)
      .map(({ id, name, fromStep }) => ({ id, name, fromStep })),
  };
}

function bytesIn(folder: string): number {
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce(
      (sum, entry) => sum + (statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
}
