/** What removing a run deletes and what depends on it, for the confirmation. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../store/index.ts';
import type { StageRow } from '../../store/stages.ts';
import { ownRunFolder } from '../workspace/own-folders.ts';
import { startFolder } from './from-checkpoint.ts';
import { refreshCheckpoints } from './history.ts';
import { findCheckpoint, requireRun } from './runs.ts';
import { RESUMABLE, waitingFor } from './waiting.ts';

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
  /** Planned and queued stages that would start from one of them: they will start from something else, or not at all. */
  readonly stages: readonly string[];
  /** Queued runs, and sweeps, also paused ones, that would, and then can't start. */
  readonly waiting: readonly string[];
}

/** What a stage would start from. */
type StartOf = (stage: StageRow) => { readonly from_checkpoint?: unknown };

/** What `removeRun` would delete now. */
export function removalOf(store: Store, runId: number, startOf: StartOf = ({ config }) => config): Removal {
  const run = requireRun(store, runId);
  const folder = ownRunFolder(store, run.folder);
  const isOwn = startsFrom(store, runId);
  const ahead = store.stages.list().filter(({ state }) => state === 'planned' || state === 'queued');
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
    stages: ahead.filter((stage) => isOwn(startOf(stage))).map(({ name }) => name),
    waiting: waitingFor(store, isOwn, RESUMABLE).map(({ name }) => name),
  };
}

/** Whether a start is a checkpoint of the run; a name means the newest one of the run that has it. */
function startsFrom(store: Store, runId: number) {
  return ({ from_checkpoint: from }: ReturnType<StartOf>): boolean => {
    return typeof from === 'string' && findCheckpoint(store, startFolder(store, from))?.runId === runId;
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
