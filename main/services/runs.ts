/** The life of a run as the history sees it: made, interrupted, resumed, ended. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BraidError, inputError } from '../errors.ts';
import { writeError } from '../files.ts';
import type { Store } from '../store/index.ts';
import type { RunHost, RunRow, RunState } from '../store/runs.ts';
import type { TrainConfig } from '../trainer/config.ts';
import { currentHost, isHostAlive } from './host.ts';
import { discardAfter } from './run-events.ts';
import { fromStoredPath, runFolderName, toStoredPath } from './workspace.ts';

export interface CreateRunOptions {
  readonly stageId?: number | null;
  /** By default the name of its folder. */
  readonly name?: string;
  /** The process that answers for the run; by default this one. */
  readonly host?: RunHost;
}

export interface CreatedRun {
  readonly runId: number;
  readonly name: string;
  /** Absolute, made, empty. */
  readonly folder: string;
}

/** Registers a run, state "running", and makes its folder: both or neither. */
export function createRun(store: Store, config: TrainConfig, options: CreateRunOptions = {}): CreatedRun {
  return store.transaction(() => {
    const parent = config.from_checkpoint === null ? undefined : findCheckpoint(store, config.from_checkpoint);
    const runId = store.runs.insert(
      {
        name: options.name ?? '',
        method: config.method,
        task: config.task,
        stageId: options.stageId ?? null,
        dataset: config.dataset,
        model: config.model,
        configJson: JSON.stringify(config),
        parentRunId: parent?.runId ?? null,
        parentCheckpointId: parent?.id ?? null,
        maxSteps: config.max_steps,
      },
      options.host ?? currentHost(),
    );
    const folder = makeRunFolder(store.folder, runFolderName(runId, config.dataset, config.method));
    const name = options.name ?? folder.split('/').at(-1) ?? folder;
    store.runs.place(runId, name, folder);
    return { runId, name, folder: fromStoredPath(store.folder, folder) };
  });
}

/** The checkpoint that a path means, if a run of this workspace made it. */
export function findCheckpoint(store: Store, path: string) {
  return store.checkpoints.byPath(toStoredPath(store.folder, path));
}

/** Never a folder that is there: it may hold an earlier run whose database was lost. */
function makeRunFolder(root: string, name: string): string {
  const outputs = join(root, 'outputs');
  try {
    mkdirSync(outputs, { recursive: true });
    for (let copy = 1; ; copy++) {
      const candidate = copy === 1 ? name : `${name}-${copy}`;
      if (madeFolder(join(outputs, candidate))) return `outputs/${candidate}`;
    }
  } catch (error) {
    throw writeError(error, join(outputs, name), 'the folder of a new run');
  }
}

function madeFolder(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** The run, or an error that says which one is missing. */
export function requireRun(store: Store, runId: number): RunRow {
  const run = store.runs.get(runId);
  if (run !== undefined) return run;
  throw inputError(
    'RUN_UNKNOWN',
    `Expected the id of a run, got ${runId}: there is none`,
    'The run list shows the ids.',
  );
}

export type FinalState = Extract<RunState, 'done' | 'failed' | 'stopped' | 'collapsed'>;

/** Ends a run in one of its final states. */
export function finishRun(store: Store, runId: number, state: FinalState, reason: string | null = null): void {
  store.transaction(() => {
    requireRun(store, runId);
    store.runs.setState(runId, state, reason);
  });
}

/** Notes that the run's process is gone; a run that has ended stays as it is. Says whether it was noted. */
export function interruptRun(store: Store, runId: number, reason: string): boolean {
  return store.transaction(() => {
    const run = requireRun(store, runId);
    if (run.state !== 'running' && run.state !== 'paused') return false;
    store.runs.setState(runId, 'interrupted', reason);
    store.events.record({
      runId,
      step: run.step,
      kind: 'interrupted',
      severity: 'error',
      message: reason,
      remedy: 'Resume the run: it goes on from its last checkpoint.',
      data: null,
    });
    return true;
  });
}

/** Gives a run that has ended to this process, in state "running". Gives the run as it was. */
export function claimRun(store: Store, runId: number, host: RunHost = currentHost()): RunRow {
  return store.transaction(() => {
    const before = requireRun(store, runId);
    refuseLive(before, host, store.now());
    store.runs.claim(runId, host);
    return before;
  });
}

/** Takes a claimed run back to the checkpoint of `step` (0: to its start). */
export function rewindRun(store: Store, before: RunRow, step: number): RunRow {
  return store.transaction(() => {
    discardAfter(store, before.id, step);
    const why = before.reason === null ? '' : ` (${before.reason})`;
    store.events.record({
      runId: before.id,
      step,
      kind: 'resumed',
      severity: 'info',
      message: `Resumed from step ${step}; it was ${before.state} at step ${before.step}${why}`,
      remedy: null,
      data: { from: before.step, state: before.state },
    });
    return requireRun(store, before.id);
  });
}

/** Gives a run another name; its folder keeps its own. */
export function renameRun(store: Store, runId: number, name: string): void {
  requireRun(store, runId);
  store.transaction(() => store.runs.rename(runId, name));
}

/** Takes a run out of the history, with its folder. */
export function removeRun(store: Store, runId: number): void {
  const folder = fromStoredPath(store.folder, requireRun(store, runId).folder);
  store.transaction(() => store.runs.remove(runId));
  // A row without a folder of its own means the workspace.
  if (folder === fromStoredPath(store.folder, '')) return;
  rmSync(folder, { recursive: true, force: true });
}

function refuseLive(run: RunRow, host: RunHost, now: number): void {
  if (run.state !== 'running' && run.state !== 'paused') return;
  if (run.pid === host.pid && run.hostId === host.hostId) {
    throw new BraidError('RUN_IS_LIVE', `Expected run ${run.id} to have ended, but it is ${run.state} in this app`, {
      kind: 'input',
      remedy: 'Stop it first.',
    });
  }
  if (!isHostAlive(run, now)) return;
  throw new BraidError(
    'RUN_IS_LIVE',
    `Expected run ${run.id} to have ended, but process ${run.pid} has it ${run.state}`,
    {
      kind: 'input',
      remedy: 'Stop it there, or close that Braid.',
    },
  );
}

/** Marks runs whose host process is gone as interrupted; called at each start. Gives the ids. */
export function markAbandonedRuns(
  store: Store,
  isAlive: (run: RunRow) => boolean = (run) => isHostAlive(run, store.now()),
): number[] {
  return store.transaction(() => {
    const abandoned = store.runs.list({ states: ['running', 'paused'] }).filter((run) => !isAlive(run));
    for (const run of abandoned) {
      interruptRun(store, run.id, `The app (process ${run.pid ?? 'unknown'}) ended without ending the run`);
    }
    return abandoned.map((run) => run.id);
  });
}
