/** The runs of sweeps: started one after the other, stopped at the ends of rungs, each followed to its end. */
import { BraidError, inputError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import type { SweepRow, TrialRow } from '../../store/sweeps.ts';
import { parseConfig } from '../../trainer/config/config.ts';
import type { TrainerEvent } from '../../trainer/protocol/trainer-events.ts';
import { checkpointOutOfReach, newestCheckpoint, outOfReach } from '../runs/history.ts';
import type { LiveRuns } from '../training/live-runs.ts';
import type { Changes } from '../workspace/changes.ts';
import { isHostAlive } from '../workspace/host.ts';
import type { Notices } from '../workspace/notices.ts';
import { readPlan } from './plan.ts';
import { rewardOf, scoreOf } from './scores.ts';
import { failuresInRow, nextTrial, promote, settle, stopStep } from './trial-rules.ts';

/** Another run trains: the trial waits for its end. */
const NO_ROOM: readonly string[] = ['RUN_BUSY', 'NO_MEMORY_FOR_RUN', 'RUN_IS_LIVE'];

export interface SweepRunsOptions {
  readonly live: LiveRuns;
  readonly changes: Pick<Changes, 'publish'>;
  readonly notices: Pick<Notices, 'add'>;
}

export interface SweepRuns {
  /** Starts the next run of a sweep; null: there is none, and the sweep has ended or waits for a run of another process. */
  startNext(sweepId: number): number | null;
  /** After a run has ended. `lost`: why it left no row. `error`: what ended it. */
  ended(runId: number, lost: string | null, error: BraidError | null): void;
  /** Trials whose run ended elsewhere: before this start, or in a command that is gone. */
  updateEnded(): void;
  /** Saves and stops its run; the sweep leaves the queue. */
  pause(sweepId: number, reason?: string | null): void;
  /** Stops its run; the others are never started. */
  cancel(sweepId: number): void;
  /** Puts failed trials, and those that waited for them, among the waiting again. */
  retry(sweepId: number): void;
  /** A person is killing a run: its sweep pauses instead of starting it again. */
  killing(runId: number): void;
  /** Runs that end from now on continue at the next start. */
  close(): void;
}

/** Why a sweep pauses whose plan can't be read. */
const UNREADABLE = "Its plan can't be read; delete the sweep, its runs are kept";

/** Follows the runs of all sweeps of a workspace. */
export function openSweepRuns(store: Store, { live, changes, notices }: SweepRunsOptions): SweepRuns {
  let closing = false;
  const killed = new Set<number>();
  const trialOf = (runId: number): TrialRow | undefined => {
    const trial = store.sweeps.trialOfRun(runId);
    return trial?.state === 'running' ? trial : undefined;
  };

  live.onEvents((runId, events) => {
    const trial = trialOf(runId);
    if (trial === undefined) return;
    if (events.some(({ kind }) => kind === 'evaluation')) changes.publish('sweeps', trial.sweepId);
    const plan = readPlan(requireSweep(store, trial.sweepId));
    const end = plan === null ? null : stopStep(plan, trial.rung);
    if (events.some((event) => endsRun(event, end))) live.command(runId, 'stop');
  });

  live.onStart(({ runId }) => {
    const trial = store.sweeps.trialOfRun(runId);
    // Resumed by a person, perhaps after the sweep has ended.
    if (trial !== undefined && trial.state !== 'running') store.sweeps.setTrial(trial, 'running');
  });

  function startNext(sweepId: number): number | null {
    for (;;) {
      const trials = store.sweeps.trials(sweepId);
      if (trials.some(({ state }) => state === 'running')) return null;
      const { next, doomed } = nextTrial(trials);
      for (const trial of doomed)
        store.sweeps.setTrial(trial, 'failed', 'The run that it starts from has no checkpoint');
      if (doomed.length > 0) continue;
      if (next === null) {
        if (closeRung(sweepId, trials)) continue;
        return null;
      }
      const started = start(next);
      if (started !== 'over') return started;
    }
  }

  /** Null: not now. `over`: it can't be started, or has no steps left. */
  function start(trial: TrialRow): number | null | 'over' {
    try {
      const runId = launch(trial, (stored) => {
        store.sweeps.startTrial(trial.id, stored);
        store.sweeps.setState(trial.sweepId, 'running');
      });
      changes.publish('sweeps', trial.sweepId);
      return runId;
    } catch (error) {
      if (!(error instanceof BraidError)) throw error;
      if (NO_ROOM.includes(error.code)) return null;
      if (error.code === 'RUN_IS_DONE') store.sweeps.setTrial(trial, 'done');
      else if (error.kind === 'input') store.sweeps.setTrial(trial, 'failed', error.message);
      // A full disk, for instance, would fail all the others too.
      else store.sweeps.setState(trial.sweepId, 'paused', error.message);
      changes.publish('sweeps', trial.sweepId);
      return store.sweeps.get(trial.sweepId)?.state === 'paused' ? null : 'over';
    }
  }

  function launch(trial: TrialRow, onStored: (runId: number) => void): number {
    if (trial.runId !== null && store.runs.get(trial.runId) !== undefined) {
      live.resume(trial.runId, { onStored });
      return trial.runId;
    }
    const config = parseConfig({ ...trial.config, ...startOf(trial) }, trial.name);
    return live.start(config, { name: trial.name, onStored });
  }

  /** The newest checkpoint of the trial that this one follows. */
  function startOf(trial: TrialRow): { readonly from_checkpoint?: string } {
    const before = store.sweeps.trials(trial.sweepId).find(({ id }) => id === trial.afterId);
    if (before === undefined) return {};
    const checkpoint = before.runId === null ? undefined : newestCheckpoint(store, before.runId);
    if (checkpoint !== undefined) return { from_checkpoint: checkpoint.path };
    const away = before.runId === null ? undefined : checkpointOutOfReach(store, before.runId);
    if (away !== undefined) throw outOfReach(store, away, `"${trial.name}" can't start`, 'The sweep is paused');
    throw inputError('CHECKPOINT_MISSING', `"${before.name}" has no checkpoint for "${trial.name}" to start from`);
  }

  /** Nothing waits: the lowest reached rung is closed, or the sweep is done. Returns whether a rung was closed. */
  function closeRung(sweepId: number, trials: readonly TrialRow[]): boolean {
    const plan = readPlan(requireSweep(store, sweepId));
    if (plan === null) {
      pauseUnreadable(sweepId);
      return false;
    }
    const atRung =
      (score: typeof scoreOf) =>
      ({ runId }: TrialRow, rung: number): number | null => {
        const step = plan.rungs?.[rung] ?? Number.POSITIVE_INFINITY;
        return runId === null ? null : (score(store, runId, step)?.value ?? null);
      };
    const { continuing, losing } = promote(plan, trials, atRung(scoreOf), atRung(rewardOf));
    const isDone = continuing.length + losing.length === 0;
    store.transaction(() => {
      for (const trial of losing)
        store.sweeps.setTrial(trial, 'eliminated', `Not among the best at step ${plan.rungs?.[trial.rung]}`);
      for (const trial of continuing) store.sweeps.setTrial({ ...trial, rung: trial.rung + 1 }, 'waiting');
      if (isDone) store.sweeps.setState(sweepId, 'done');
    });
    changes.publish('sweeps', sweepId);
    if (isDone) reportDone(sweepId);
    return !isDone;
  }

  /** Nothing of one sweep may keep the others, or the app, from starting. */
  function pauseUnreadable(sweepId: number): void {
    store.sweeps.setState(sweepId, 'paused', UNREADABLE);
    changes.publish('sweeps', sweepId);
  }

  function reportDone(sweepId: number): void {
    const { name } = requireSweep(store, sweepId);
    const failed = store.sweeps.trials(sweepId).filter(({ state }) => state === 'failed').length;
    const runs = failed === 1 ? '1 run failed' : `${failed} runs failed`;
    if (failed === 0)
      notices.add({ severity: 'info', message: `The sweep "${name}" is done`, remedy: null, runId: null });
    else
      notices.add({
        severity: 'warning',
        message: `The sweep "${name}" has ended; ${runs}`,
        remedy: 'Its page lists the reasons; failed runs can be retried there.',
        runId: null,
      });
  }

  function follow(trial: TrialRow, error: string | null, hostDied: boolean, refused: string | null = null): void {
    const sweep = requireSweep(store, trial.sweepId);
    const run = trial.runId === null ? undefined : store.runs.get(trial.runId);
    if (run === undefined) {
      store.sweeps.setTrial(trial, 'failed', error ?? 'Its run is no longer in the history');
    } else {
      const plan = readPlan(sweep);
      const rungEnd = plan === null ? null : stopStep(plan, trial.rung);
      const scored = rungEnd !== null && (scoreOf(store, run.id, rungEnd)?.step ?? 0) >= rungEnd;
      const ended = refused === null ? run : ({ ...run, state: 'failed', reason: refused } as const);
      const settled = settle(ended, {
        sweep: sweep.state,
        attempts: trial.attempts,
        scored,
        closing: closing || hostDied,
        killed: killed.delete(run.id),
      });
      store.sweeps.setTrial({ ...trial, attempts: settled.attempts }, settled.state, settled.reason);
      const pause = settled.pause ?? (settled.state === 'failed' ? failuresInRow(store.sweeps.trials(sweep.id)) : null);
      const reason = plan === null ? UNREADABLE : pause;
      if (reason !== null) store.sweeps.setState(sweep.id, 'paused', reason);
    }
    changes.publish('sweeps', trial.sweepId);
  }

  /** Also while its process is exiting, after its end was stored: `ended` follows it. */
  function isLive({ runId }: TrialRow): boolean {
    return runId !== null && live.get(runId) !== null;
  }

  function stopRunning(sweepId: number): void {
    const running = store.sweeps.trials(sweepId).find(({ state }) => state === 'running');
    if (running?.runId != null && live.get(running.runId) !== null) live.command(running.runId, 'stop');
  }

  return {
    startNext,
    ended: (runId, lost, error) => {
      const trial = trialOf(runId) ?? orphan(store, lost);
      // A run that could not be resumed is as it was: to the sweep it has failed.
      if (trial !== undefined) follow(trial, lost, false, error?.kind === 'input' ? error.message : null);
    },
    updateEnded: () => {
      for (const trial of store.sweeps.runningTrials())
        if (!isLive(trial) && !isTraining(store, trial) && !isElsewhere(store, trial)) follow(trial, null, true);
      for (const sweep of store.sweeps.list('running')) {
        if (sweep.queuedAt !== null || isHostAlive(sweep, store.now())) continue;
        store.sweeps.setState(sweep.id, 'paused', 'The command that ran it was ended');
        changes.publish('sweeps', sweep.id);
      }
    },
    pause: (sweepId, reason = null) => {
      const { state } = requireSweep(store, sweepId);
      if (state !== 'queued' && state !== 'running') return;
      store.sweeps.setState(sweepId, 'paused', reason);
      stopRunning(sweepId);
      changes.publish('sweeps', sweepId);
    },
    cancel: (sweepId) => {
      store.transaction(() => {
        store.sweeps.setState(requireSweep(store, sweepId).id, 'cancelled');
        for (const trial of store.sweeps.trials(sweepId))
          if (trial.state === 'waiting' || trial.state === 'reached') store.sweeps.setTrial(trial, 'cancelled');
      });
      stopRunning(sweepId);
      changes.publish('sweeps', sweepId);
    },
    retry: (sweepId) => {
      store.transaction(() => retryTrials(store, requireSweep(store, sweepId).id));
      changes.publish('sweeps', sweepId);
    },
    killing: (runId) => {
      if (trialOf(runId) !== undefined) killed.add(runId);
    },
    close: () => {
      closing = true;
    },
  };
}

/** The end of a rung; or the collapse watch, whose pause nobody may be there to answer. */
function endsRun(event: TrainerEvent, end: number | null): boolean {
  if (event.kind === 'paused') return event.byWatch;
  return event.kind === 'evaluation' && end !== null && event.step >= end;
}

/** A refused run leaves no row, which also clears its trial's reference. */
function orphan(store: Store, error: string | null): TrialRow | undefined {
  if (error === null) return undefined;
  return store.sweeps.runningTrials().find(({ runId }) => runId === null);
}

function isTraining(store: Store, { runId }: TrialRow): boolean {
  const run = runId === null ? undefined : store.runs.get(runId);
  return run?.state === 'running' || run?.state === 'paused';
}

/** A command follows it itself. */
function isElsewhere(store: Store, { sweepId }: TrialRow): boolean {
  const sweep = store.sweeps.get(sweepId);
  return sweep !== undefined && sweep.pid !== null && sweep.pid !== process.pid && isHostAlive(sweep, store.now());
}

/** Puts failed and cancelled trials among the waiting again. */
export function retryTrials(store: Store, sweepId: number): void {
  for (const trial of store.sweeps.trials(sweepId))
    if (trial.state === 'failed' || trial.state === 'cancelled')
      store.sweeps.setTrial({ ...trial, attempts: 0 }, 'waiting');
}

/** The sweep, or an error if there is none. */
export function requireSweep(store: Pick<Store, 'sweeps'>, sweepId: number): SweepRow {
  const sweep = store.sweeps.get(sweepId);
  if (sweep !== undefined) return sweep;
  throw inputError('SWEEP_UNKNOWN', `There is no sweep with id ${sweepId}`, 'It may have been removed.');
}
