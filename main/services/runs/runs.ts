/** The lifecycle of a run in the history: created, interrupted, resumed, ended. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BraidError, inputError } from '../../errors.ts';
import { type FileOps, writeError } from '../../io/atomic-write.ts';
import { isDiskFull } from '../../store/errors.ts';
import type { Store } from '../../store/index.ts';
import type { RunHost, RunRow, RunState } from '../../store/runs.ts';
import type { TaskSource } from '../../tasks/index.ts';
import { type TrainConfig, totalSteps } from '../../trainer/config/config.ts';
import { keepTask, taskColumns } from '../tasks/run-task.ts';
import { currentHost, isHostAlive } from '../workspace/host.ts';
import { ownRunFolder } from '../workspace/own-folders.ts';
import { fromStoredPath, runFolderName, toStoredPath } from '../workspace/workspace.ts';
import { discardAfter } from './events.ts';
import { appendToLog } from './files.ts';
import { beginRemoval, type FolderRemoval } from './folder-removal.ts';
import { forgetReferences } from './forget-references.ts';
import { takenBackWith } from './taken-back.ts';
import { endedAs, faultEntry } from './training-log.ts';

const RESUME = 'Resume the run: it continues from its last checkpoint.';

export interface CreateRunOptions {
  readonly stageId?: number | null;
  /** By default the native one that the configuration names. */
  readonly task?: TaskSource;
  /** By default the name of its folder. */
  readonly name?: string;
  /** The process that owns the run; by default this one. */
  readonly host?: RunHost;
  /** Called in the transaction that stores it. */
  readonly onStored?: (runId: number) => void;
}

export interface CreatedRun {
  readonly runId: number;
  readonly name: string;
  /** Absolute; created and empty. */
  readonly folder: string;
}

/** Registers a run in state "running" and creates its folder: both or neither. */
export function createRun(store: Store, config: TrainConfig, options: CreateRunOptions = {}): CreatedRun {
  let made: string | null = null;
  try {
    return store.transaction(() => {
      const { runId, about } = insertRun(store, config, options);
      const folder = makeRunFolder(store.folder, runFolderName(runId, about, config.method));
      made = fromStoredPath(store.folder, folder);
      const name = options.name ?? folder.split('/').at(-1) ?? folder;
      store.runs.place(runId, name, folder);
      keepTask(made, options.task ?? config.task);
      options.onStored?.(runId);
      return { runId, name, folder: made };
    });
  } catch (error) {
    if (made !== null) rmSync(made, { recursive: true, force: true });
    throw error;
  }
}

/** `about`: what its folder is named after. */
function insertRun(store: Store, config: TrainConfig, options: CreateRunOptions) {
  const { task = config.task } = options;
  const parent = config.from_checkpoint === null ? undefined : findCheckpoint(store, config.from_checkpoint);
  const runId = store.runs.insert(
    {
      name: options.name ?? '',
      method: config.method,
      ...taskColumns(task),
      stageId: options.stageId ?? null,
      dataset: config.dataset,
      model: config.model,
      configJson: JSON.stringify(config),
      parentRunId: parent?.runId ?? null,
      parentCheckpointId: parent?.id ?? null,
      maxSteps: totalSteps(config),
    },
    options.host ?? currentHost(),
  );
  return { runId, about: typeof task === 'string' ? config.dataset : task.name };
}

/** The checkpoint at a path, if a run of this workspace wrote it. */
export function findCheckpoint(store: Store, path: string) {
  return store.checkpoints.byPath(toStoredPath(store.folder, path));
}

/** Never an existing folder: it may hold an earlier run whose database was lost. */
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

/** The run, or an error if there is none. */
export function requireRun(store: Store, runId: number): RunRow {
  const run = store.runs.get(runId);
  if (run !== undefined) return run;
  throw inputError('RUN_UNKNOWN', `There is no run with id ${runId}`, 'The run list shows the ids.');
}

export type FinalState = Extract<RunState, 'done' | 'failed' | 'stopped' | 'collapsed'>;

/** Ends a run in one of its final states. */
export function finishRun(store: Store, runId: number, state: FinalState, reason: string | null = null): void {
  store.transaction(() => {
    requireRun(store, runId);
    store.runs.setState(runId, state, reason);
  });
}

/** Marks the run as interrupted because its process is gone, unless it has ended. Returns whether it did. */
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
      remedy: RESUME,
      data: null,
    });
    return true;
  });
}

/**
 * Assigns an ended run to this process, in state "running", and with it its stage, which then follows it to its end,
 * whoever resumes it. Returns the run as it was.
 */
export function claimRun(store: Store, runId: number, host: RunHost = currentHost()): RunRow {
  return store.transaction(() => {
    const before = requireRun(store, runId);
    refuseLive(before, host, store.now());
    store.runs.claim(runId, host);
    if (before.stageId !== null) store.stages.setState(before.stageId, 'running');
    return before;
  });
}

/** Rewinds a claimed run to the checkpoint of `step` (0: to its start). */
export function rewindRun(store: Store, before: RunRow, step: number): RunRow {
  return store.transaction(() => {
    const takenBack = takenBackWith(store, before.id, step);
    discardAfter(store, before.id, step);
    const why = before.reason === null ? '' : ` (${before.reason})`;
    store.events.record({
      runId: before.id,
      step,
      kind: 'resumed',
      severity: 'info',
      message: `Resumed from step ${step}; it ${endedAs(before.state)} at step ${before.step}${why}`,
      remedy: null,
      data: { from: before.step, state: before.state, takenBack },
    });
    return requireRun(store, before.id);
  });
}

/** Renames a run; its folder keeps its name. */
export function renameRun(store: Store, runId: number, name: string): void {
  requireRun(store, runId);
  store.transaction(() => store.runs.rename(runId, name));
}

/**
 * Takes a run out of the history, with its folder if that is one of this workspace's. Not one that trains in another
 * process: its id may be used again, and that process would write into the run that has it then. If it throws, both are
 * as they were; only on a full disk, where deleting the folder doesn't make enough room, the run stays without its files.
 */
export function removeRun(store: Store, runId: number, ops?: FileOps): void {
  const run = requireRun(store, runId);
  refuseElsewhere(run, currentHost(), store.now());
  const folder = ownRunFolder(store, run.folder);
  const removal = folder === null ? null : beginRemoval(folder, run.name, ops);
  try {
    forgetRun(store, runId);
  } catch (error) {
    if (removal === null || !isDiskFull(error)) {
      removal?.putBack();
      throw error;
    }
    removeForRoom(store, run, removal);
    return;
  }
  removal?.finish();
}

function forgetRun(store: Store, runId: number): void {
  store.transaction(() => {
    forgetReferences(store, runId);
    store.runs.remove(runId);
  });
}

/** The database needs room to delete something, and room is what people delete runs for: the files go first. */
function removeForRoom(store: Store, { id, name }: RunRow, removal: FolderRemoval): void {
  removal.finish();
  try {
    forgetRun(store, id);
  } catch (cause) {
    throw new BraidError('DISK_FULL', `The files of ${name} were deleted, but its history is left: the disk is full`, {
      cause,
      remedy: 'Free some space on that disk, then delete the run again.',
    });
  }
}

function refuseLive(run: RunRow, host: RunHost, now: number): void {
  if (isOpen(run) && isHostOf(run, host)) {
    throw new BraidError('RUN_IS_LIVE', `Run ${run.id} is ${run.state} in this app`, {
      kind: 'input',
      remedy: 'Stop it first.',
    });
  }
  refuseElsewhere(run, host, now);
}

function refuseElsewhere(run: RunRow, host: RunHost, now: number): void {
  if (!isElsewhere(run, host, now)) return;
  throw new BraidError('RUN_IS_LIVE', `Run ${run.id} is ${run.state} in process ${run.pid}`, {
    kind: 'input',
    remedy: 'Stop it there, or close that instance of Braid.',
  });
}

/** Whether another process that is alive trains the run. */
export function isElsewhere(run: RunRow, host: RunHost, now: number): boolean {
  return isOpen(run) && !isHostOf(run, host) && isHostAlive(run, now);
}

function isOpen({ state }: RunRow): boolean {
  return state === 'running' || state === 'paused';
}

function isHostOf(run: RunRow, host: RunHost): boolean {
  return run.pid === host.pid && run.hostId === host.hostId;
}

/** Marks runs whose host process is gone as interrupted. Returns the ids. */
export function markAbandonedRuns(
  store: Store,
  isAlive: (run: RunRow) => boolean = (run) => isHostAlive(run, store.now()),
): number[] {
  const reasonOf = (run: RunRow): string => `The app (process ${run.pid ?? 'unknown'}) quit during the run`;
  const lost = (): RunRow[] => store.runs.list({ states: ['running', 'paused'] }).filter((run) => !isAlive(run));
  // Asked every second by an open app, which locks nothing for it.
  if (lost().length === 0) return [];
  const abandoned = store.transaction(() => {
    const found = lost();
    for (const run of found) interruptRun(store, run.id, reasonOf(run));
    return found;
  });
  for (const run of abandoned) {
    const folder = ownRunFolder(store, run.folder);
    const fault = { message: reasonOf(run), remedy: RESUME };
    if (folder !== null) appendToLog(folder, faultEntry(run.step, 'Error', fault));
  }
  return abandoned.map((run) => run.id);
}
