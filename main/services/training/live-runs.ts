/** The live runs: admission, start, commands, end. live-board.ts has their state. */

import { inputError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import type { TrainConfig } from '../../trainer/config/config.ts';
import type { MemoryUse } from '../../trainer/memory/budget.ts';
import type { TrainerCommand, TrainerEvent } from '../../trainer/protocol/trainer-events.ts';
import { knownMachineMemory, type MachineMemory } from '../doctor/machine-memory.ts';
import type { EngineAccess } from '../engines/engine-for.ts';
import { startingModel } from '../models/starting-model.ts';
import { requireRun } from '../runs/runs.ts';
import { savedConfig } from '../runs/saved-config.ts';
import type { RewardTrust } from '../tasks/reward-access.ts';
import type { Changes } from '../workspace/changes.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import type { HostPaths } from '../workspace/paths.ts';
import type { Settings } from '../workspace/settings.ts';
import { promisedBytes, refusal } from './admission.ts';
import { expectedMemory } from './demand.ts';
import { type BoardListeners, openLiveBoard, type SilenceWatch } from './live-board.ts';
import { type LiveStatus, liveStatus } from './live-status.ts';
import type { RunOutcome } from './run-outcome.ts';
import { type LiveRun, resumeTraining, startTraining } from './training.ts';

/** An open workspace and its live runs. */
export interface LiveWorkspace extends OpenWorkspace {
  readonly live: LiveRuns;
}

export interface LiveRuns extends BoardListeners {
  /** Starts a new run; invalid input throws before anything is stored. */
  start(config: TrainConfig, options?: StartChoice): number;
  /** Resumes an ended run from its newest checkpoint or the given one. */
  resume(runId: number, options?: ResumeChoice): void;
  command(runId: number, command: TrainerCommand['kind']): void;
  kill(runId: number): void;
  list(): readonly LiveStatus[];
  get(runId: number): LiveStatus | null;
  /** Why an ended run's final state could not be saved to the history; null: it was. */
  lost(runId: number): string | null;
  /** Memory that they were promised and haven't taken yet. */
  promised(): MemoryUse;
  /** Resolves when the run has ended and its end is stored; null if it isn't live. */
  outcome(runId: number): Promise<RunOutcome> | null;
  /** Asks every run to save and end, kills those that haven't after `graceMs`, and waits. */
  close(graceMs: number): Promise<void>;
}

export interface StartChoice {
  readonly stageId?: number;
  /** Whether it ends before its first step where the stage's rule is met already. */
  readonly endIfMet?: boolean;
  /** By default the name of the run's folder. */
  readonly name?: string;
  /** Called in the transaction that stores the run. */
  readonly onStored?: (runId: number) => void;
}

export interface ResumeChoice extends Pick<StartChoice, 'onStored'> {
  readonly checkpoint?: { readonly step: number; readonly path: string };
  readonly maxSteps?: number;
}

export interface LiveRunsOptions {
  readonly paths: HostPaths;
  readonly changes: Pick<Changes, 'publish'>;
  readonly settings: () => Settings;
  /** What there is to compute on; by default as it was last seen. */
  readonly machine?: () => MachineMemory;
  readonly silence?: SilenceWatch;
  readonly access?: EngineAccess & RewardTrust;
}

/** Opens the registry of live runs. */
export function openLiveRuns(
  store: Store,
  { paths, changes, settings, machine = () => knownMachineMemory(paths), silence, access }: LiveRunsOptions,
): LiveRuns {
  const board = openLiveBoard(changes, silence);
  /** Why the final states of ended runs could not be saved, by run. */
  const lost = new Map<number, string>();

  const taking = () => board.list().filter(({ state }) => state !== 'ending');
  const promised = () => promisedBytes(taking());

  /** The memory that a run is expected to take; throws if it can't start now. */
  function admit(config: TrainConfig, name: string): MemoryUse {
    const { folder, model } = startingModel(store, config, paths);
    const here = machine();
    const memory = expectedMemory(store, { ...config, model }, folder, paths, here);
    const live = taking().map((status) => ({ name: status.name, memory: status.expected }));
    const left = promised();
    const room = {
      concurrentRuns: settings().concurrent_runs,
      freeBytes: here.freeBytes - left.host,
      gpuFreeBytes: here.gpu === null || here.gpu.shared ? null : here.gpu.freeBytes - left.gpu,
    };
    const refused = refusal(live, { name, memory }, room);
    if (refused !== null) throw refused;
    return memory;
  }

  function follow(run: LiveRun, expected: MemoryUse): void {
    lost.delete(run.runId);
    void run.outcome.then((outcome) => {
      if (outcome.error?.code === 'HISTORY_LOST') lost.set(run.runId, outcome.error.message);
      board.remove(outcome);
    });
    try {
      board.add(run, liveStatus(requireRun(store, run.runId), expected, store.now()));
    } catch (error) {
      // To whoever asked it has not started: it must not train unseen.
      run.kill();
      throw error;
    }
  }

  function training(runId: () => number) {
    const onEvents = (events: readonly TrainerEvent[]): void => board.hear(runId(), events);
    const onDropped = (): void => changes.publish('models');
    return { paths, onEvents, onDropped, ...(access && { access }) };
  }

  function requireLive(runId: number): LiveRun {
    const run = board.run(runId);
    if (run !== null) return run;
    const { name, state } = requireRun(store, runId);
    throw inputError('RUN_NOT_LIVE', `${name} is not training in this app: it is ${state}`, 'Resume it first.');
  }

  return {
    start: (config, choice = {}) => {
      const expected = admit(config, config.dataset);
      const run: LiveRun = startTraining(store, config, { ...training(() => run.runId), ...choice });
      follow(run, expected);
      return run.runId;
    },
    resume: (runId, choice = {}) => {
      refuseLive(runId, board.get(runId));
      const row = requireRun(store, runId);
      const expected = admit(savedConfig(row), row.name);
      follow(resumeTraining(store, runId, { ...training(() => runId), ...choice }), expected);
      // The run was rewound to its checkpoint: completions of later steps are gone.
      changes.publish('samples', runId);
    },
    command: (runId, kind) => {
      requireLive(runId).send({ kind });
      board.asked(runId, kind);
      board.publish(runId);
    },
    kill: (runId) => requireLive(runId).kill(),
    list: board.list,
    get: board.get,
    lost: (runId) => lost.get(runId) ?? null,
    promised,
    outcome: (runId) => board.run(runId)?.outcome ?? null,
    onEvents: board.onEvents,
    onStart: board.onStart,
    onEnd: board.onEnd,
    close: (graceMs) => stopAll(board.runs(), graceMs),
  };
}

function refuseLive(runId: number, status: LiveStatus | null): void {
  if (status === null) return;
  const remedy = status.state === 'ending' ? 'Its process is still exiting; try again in a moment.' : 'Stop it first.';
  throw inputError('RUN_IS_LIVE', `Run ${runId} is ${status.state}`, remedy);
}

/** Asks runs to save and end, kills those that haven't after `graceMs`, and waits. */
async function stopAll(runs: readonly LiveRun[], graceMs: number): Promise<void> {
  for (const run of runs) run.send({ kind: 'stop' });
  const killer = setTimeout(() => {
    for (const run of runs) run.kill();
  }, graceMs);
  await Promise.all(runs.map(({ outcome }) => outcome));
  clearTimeout(killer);
}
