/** The runs that train now: started, commanded, watched, and what of them only memory knows. */
import { freemem } from 'node:os';
import { inputError } from '../errors.ts';
import type { Store } from '../store/index.ts';
import type { TrainConfig } from '../trainer/config.ts';
import type { TrainerCommand, TrainerEvent } from '../trainer/events.ts';
import { refusal } from './admission.ts';
import type { Changes } from './changes.ts';
import { expectedMemory } from './demand.ts';
import { resolveStart } from './from-checkpoint.ts';
import { advance, type LiveStatus, liveStatus } from './live-status.ts';
import type { HostPaths } from './paths.ts';
import { requireRun } from './runs.ts';
import type { Settings } from './settings.ts';
import { SHORTEST_SILENCE_MS, silenceToTell } from './silence.ts';
import { type LiveRun, type RunOutcome, resumeTraining, startTraining } from './training.ts';

export interface LiveRuns {
  /** Starts a new run; what is wrong is thrown before anything is stored. */
  start(config: TrainConfig, options?: StartChoice): number;
  /** Goes on with a run that ended, from its newest checkpoint or the one given. */
  resume(runId: number, options?: ResumeChoice): void;
  command(runId: number, command: TrainerCommand['kind']): void;
  kill(runId: number): void;
  list(): readonly LiveStatus[];
  get(runId: number): LiveStatus | null;
  /** Why the end of a run that is over could not be written to the history; null: it was. */
  lost(runId: number): string | null;
  /** Settles when the run has ended and the history knows it; null when it doesn't train. */
  outcome(runId: number): Promise<RunOutcome> | null;
  /** Called with each batch that the history has taken in. */
  onEvents(listener: (runId: number, events: readonly TrainerEvent[]) => void): void;
  /** Called when a trainer was started, for a new run or one that goes on. */
  onStart(listener: (status: LiveStatus) => void): void;
  onEnd(listener: (outcome: RunOutcome) => void): void;
  /** Asks every run to save and end, kills what has not after `graceMs`, and waits. */
  close(graceMs: number): Promise<void>;
}

export interface StartChoice {
  readonly stageId?: number;
  /** By default the name of the run's folder. */
  readonly name?: string;
}

export interface ResumeChoice {
  readonly checkpoint?: { readonly step: number; readonly path: string };
  readonly maxSteps?: number;
}

export interface LiveRunsOptions {
  readonly paths: HostPaths;
  readonly changes: Pick<Changes, 'publish'>;
  readonly settings: () => Settings;
  readonly freeMemory?: () => number;
  /** How often it is looked whether trainers speak, and the shortest silence that is told of. */
  readonly silence?: { readonly everyMs: number; readonly shortestMs: number };
}

interface Entry {
  readonly run: LiveRun;
  status: LiveStatus;
  /** Since the trainer's last word, as far as this host was awake to hear it. */
  quietMs: number;
}

const SILENCE = { everyMs: 5000, shortestMs: SHORTEST_SILENCE_MS };

/** Opens the board of live runs. */
export function openLiveRuns(
  store: Store,
  { paths, changes, settings, freeMemory = freemem, silence = SILENCE }: LiveRunsOptions,
): LiveRuns {
  const entries = new Map<number, Entry>();
  const lost = new Map<number, string>();
  const eventListeners: ((runId: number, events: readonly TrainerEvent[]) => void)[] = [];
  const startListeners: ((status: LiveStatus) => void)[] = [];
  const endListeners: ((outcome: RunOutcome) => void)[] = [];

  function admit(config: TrainConfig, name: string): number {
    const model = config.from_checkpoint === null ? config.model : resolveStart(store, config.from_checkpoint);
    const memoryBytes = expectedMemory(store, config, model, paths);
    const statuses = [...entries.values()].map(({ status }) => status).filter(({ state }) => state !== 'ending');
    const live = statuses.map((status) => ({ name: status.name, memoryBytes: status.expectedBytes }));
    // What a run that has just begun will still take is not free, though the system says so.
    const promised = statuses.reduce((sum, run) => sum + Math.max(0, run.expectedBytes - (run.memoryBytes ?? 0)), 0);
    const refused = refusal(
      live,
      { name, memoryBytes },
      { concurrentRuns: settings().concurrent_runs, freeBytes: freeMemory() - promised },
    );
    if (refused !== null) throw refused;
    return memoryBytes;
  }

  function follow(run: LiveRun, expectedBytes: number): void {
    const row = requireRun(store, run.runId);
    const status = liveStatus(row, expectedBytes, store.now());
    entries.set(run.runId, { run, status, quietMs: 0 });
    const listening = setInterval(() => listen(run.runId), silence.everyMs).unref();
    lost.delete(run.runId);
    for (const listener of startListeners) listener(status);
    void run.outcome.then((outcome) => {
      clearInterval(listening);
      entries.delete(run.runId);
      if (outcome.error?.code === 'HISTORY_LOST') lost.set(run.runId, outcome.error.message);
      publish(run.runId);
      for (const listener of endListeners) listener(outcome);
    });
    publish(run.runId);
  }

  /** Time is counted in looks, not by the clock: a machine that slept would take its own sleep for silence. */
  function listen(runId: number): void {
    const entry = entries.get(runId);
    if (entry === undefined) return;
    entry.quietMs += silence.everyMs;
    const silentSeconds = silenceToTell(entry.status, entry.quietMs, silence.shortestMs);
    if (silentSeconds === entry.status.silentSeconds) return;
    entry.status = { ...entry.status, silentSeconds };
    publishProgress(runId);
  }

  function take(runId: number, events: readonly TrainerEvent[]): void {
    const entry = entries.get(runId);
    if (entry === undefined) return;
    const wasSilent = entry.status.silentSeconds !== null;
    entry.quietMs = 0;
    for (const event of events) entry.status = advance(entry.status, event);
    if (wasSilent) publishProgress(runId);
    if (events.every(({ kind }) => kind === 'alive')) return;
    // Steps come several a second: who follows the run hears of each, who shows the list or the whole record does not.
    if (events.every(({ kind }) => kind === 'alive' || kind === 'step')) publishProgress(runId);
    else publish(runId);
    if (events.some(({ kind }) => kind === 'checkpoint')) changes.publish('models');
    if (events.some(({ kind }) => kind === 'samples')) changes.publish('samples', runId);
    for (const listener of eventListeners) listener(runId, events);
  }

  function publishProgress(runId: number): void {
    changes.publish('run', runId);
    changes.publish('status');
  }

  function publish(runId: number): void {
    publishProgress(runId);
    changes.publish('runs', runId);
  }

  function training(onRun: () => number) {
    const silenceMs = settings().hang_minutes * 60_000;
    return { paths, silenceMs, onEvents: (events: readonly TrainerEvent[]) => take(onRun(), events) };
  }

  function require(runId: number): Entry {
    const entry = entries.get(runId);
    if (entry !== undefined) return entry;
    const { name, state } = requireRun(store, runId);
    throw inputError(
      'RUN_NOT_LIVE',
      `Expected ${name} to be training in this app, but it is ${state}`,
      'Resume it first.',
    );
  }

  return {
    start: (config, choice = {}) => {
      const bytes = admit(config, config.dataset);
      const run: LiveRun = startTraining(store, config, { ...training(() => run.runId), ...choice });
      follow(run, bytes);
      return run.runId;
    },
    resume: (runId, choice = {}) => {
      const state = entries.get(runId)?.status.state;
      if (state !== undefined) {
        const remedy = state === 'ending' ? 'Its process needs a moment to end; try again.' : 'Stop it first.';
        throw inputError('RUN_IS_LIVE', `Expected run ${runId} to have ended, but it is ${state}`, remedy);
      }
      const row = requireRun(store, runId);
      const bytes = admit(JSON.parse(row.configJson) as TrainConfig, row.name);
      follow(resumeTraining(store, runId, { ...training(() => runId), ...choice }), bytes);
      // The run went back to its checkpoint: completions of later steps are gone.
      changes.publish('samples', runId);
    },
    command: (runId, kind) => {
      const entry = require(runId);
      entry.run.send({ kind });
      if (kind === 'stop') entry.status = { ...entry.status, state: 'stopping' };
      publish(runId);
    },
    kill: (runId) => require(runId).run.kill(),
    list: () => [...entries.values()].map(({ status }) => status),
    get: (runId) => entries.get(runId)?.status ?? null,
    lost: (runId) => lost.get(runId) ?? null,
    outcome: (runId) => entries.get(runId)?.run.outcome ?? null,
    onEvents: (listener) => void eventListeners.push(listener),
    onStart: (listener) => void startListeners.push(listener),
    onEnd: (listener) => void endListeners.push(listener),
    close: async (graceMs) => {
      const runs = [...entries.values()].map(({ run }) => run);
      for (const run of runs) run.send({ kind: 'stop' });
      const killer = setTimeout(() => {
        for (const run of runs) run.kill();
      }, graceMs);
      await Promise.all(runs.map(({ outcome }) => outcome));
      clearTimeout(killer);
    },
  };
}
