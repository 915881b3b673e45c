/** What a check reads from a workspace about its own runs: where to continue one, and what it came to. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { newestCheckpoint, runDetail } from '../../main/services/runs/history.ts';
import { markAbandonedRuns } from '../../main/services/runs/runs.ts';
import { seedRunName } from '../../main/services/runs/seed-groups.ts';
import { openWorkspace } from '../../main/services/workspace/workspace.ts';
import { openStore, type Store } from '../../main/store/index.ts';

export interface RunCurve {
  /** Held-out scores, the baseline's first. */
  readonly points: readonly { readonly step: number; readonly mean: number }[];
  readonly steps: number;
  /** Of all steps, also those before an interruption; without held-out evaluations. */
  readonly seconds: number;
  readonly memoryMb: number;
}

/** The newest checkpoint of the newest unfinished run with this name and seed; null: it has to begin. */
export function checkpointToResume(workspace: string, experiment: string, seed: number): string | null {
  if (!existsSync(join(workspace, 'braid.db'))) return null;
  return withStore(workspace, (store) => {
    markAbandonedRuns(store);
    const name = seedRunName(experiment, seed);
    const run = store.runs.list({ states: ['interrupted', 'stopped', 'failed'] }).find((each) => each.name === name);
    return run === undefined ? null : (newestCheckpoint(store, run.id)?.path ?? null);
  });
}

/** A run's held-out curve, seconds and memory. */
export function runCurve(workspace: string, runId: number): RunCurve {
  return withStore(workspace, (store) => {
    const { evaluations, step, trainedSeconds } = runDetail(store, runId);
    const points = evaluations.flatMap(({ step: at, mean }) => (mean === null ? [] : [{ step: at, mean }]));
    const [memory] = store.metrics.buckets(runId, 'memory_mb', 1);
    return { points, steps: step, seconds: trainedSeconds, memoryMb: memory?.max ?? 0 };
  });
}

function withStore<T>(folder: string, read: (store: Store) => T): T {
  const store = openStore(openWorkspace({ workspace: folder }).database);
  try {
    return read(store);
  } finally {
    store.close();
  }
}
