/**
 * The one queue: stages, runs outside the curriculum and sweeps, started in their order, one at a time. A
 * stage that failed or missed its rule pauses the stages behind it; runs and sweeps don't depend on it.
 */
import { BraidError, inputError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import type { QueueKey, QueueKind, QueuePlace } from '../../store/queue.ts';
import type { StageRow } from '../../store/stages.ts';
import { parseConfig, type TrainConfig } from '../../trainer/config/config.ts';
import type { QueueHold } from '../curriculum/curriculum.ts';
import { removeStage } from '../curriculum/edit.ts';
import { stageConfig } from '../curriculum/stage-config.ts';
import type { Hold } from '../curriculum/stage-rules.ts';
import { openStageRuns, requireStage, type StageRunsOptions } from '../curriculum/stage-runs.ts';
import { unmetGoal } from '../runs/held-out.ts';
import { promotionOf } from '../runs/promotion.ts';
import { openSweepRuns, requireSweep, type SweepRuns } from '../sweeps/sweep-runs.ts';
import { plannedLater } from '../training/planned-start.ts';

export interface RunQueue extends QueueHold {
  /** Starts a stage's run at once; throws if there is no room. */
  start(stageId: number): number;
  enqueue(stageId: number): void;
  dequeue(stageId: number): void;
  /** Counts a stage as met by a held-out score, without training it. */
  countAsMet(stageId: number, score: number): void;
  /** After a stage's rule was changed: one that had missed it may be done by the new one, and what waits starts. */
  reconsider(stageId: number): void;
  /** Queues a run outside the curriculum; what can be checked now is. Returns its id in the queue. */
  addRun(config: TrainConfig, name: string | null): number;
  /** Queues a sweep, or resumes it. */
  addSweep(sweepId: number): void;
  /** Everything that waits, next one first. */
  list(): readonly QueuePlace[];
  /** Takes one out: a stage is planned again, a sweep pauses. */
  remove(key: QueueKey): void;
  /** Removes a stage from the curriculum, and so from the queue. */
  removeStage(stageId: number): void;
  /** Puts the waiting in this order. */
  reorder(keys: readonly QueueKey[]): void;
  /** Tries again to start a queued run that could not be started. */
  retry(id: number): void;
  readonly sweeps: SweepRuns;
  /** Starts the next one if there is room; called once the app is open, and when a setting may have made room. */
  begin(): void;
  /** Resumes a paused queue. */
  release(): void;
  /** Pauses the queue with a reason, if anything waits in it. */
  holdWaiting(reason: string): void;
  /** Updates stages and sweeps whose run ended elsewhere: before this start, or by a command line. */
  updateEnded(): void;
  /** Stops starting runs: the app is quitting. */
  close(): void;
}

/** Persisted with the queue: a restart must not start what a failure had stopped. */
const HOLD = 'queue_hold';

/** Opens the queue from the store. Stages and sweeps whose run is gone are updated. */
export function openQueue(store: Store, options: StageRunsOptions): RunQueue {
  const { paths, live, changes, notices, settings } = options;
  const hold = {
    get: () => (store.settings.get(HOLD) as Hold | null | undefined) ?? null,
    set: (next: Hold | null): void => {
      store.settings.set(HOLD, next);
      changes.publish('stages');
    },
  };
  const stages = openStageRuns(store, hold, options);
  const sweeps = openSweepRuns(store, { live, changes, notices });

  function updateEnded(): void {
    stages.updateEnded();
    sweeps.updateEnded();
    dropOldHold();
  }

  function startNext(): void {
    if (stages.isBusy() || live.list().length > 0 || !settings().run_queue) return;
    for (const place of store.queue.list()) {
      if (isHeld(place.kind, hold.get()) || place.reason !== null) continue;
      if (!starters[place.kind](place)) continue;
      changes.publish('stages');
      return;
    }
  }

  /** Each returns whether it has started a run. */
  const starters: Readonly<Record<QueueKind, (place: QueuePlace) => boolean>> = {
    stage: ({ id }) => stages.startQueued(requireStage(store, id)),
    run: startRun,
    sweep: ({ id }) => sweeps.startNext(id) !== null,
  };

  function startRun({ id }: QueuePlace): boolean {
    const queued = store.queue.getRun(id);
    if (queued === undefined) return false;
    try {
      const config = parseConfig(queued.config, 'The queued run');
      // In the history or in the queue, whenever the power fails: never in both, which would run it twice.
      const onStored = (): void => requireTaken(store.queue.removeRun(id));
      live.start(config, { onStored, ...(queued.name !== null && { name: queued.name }) });
      return true;
    } catch (error) {
      if (!(error instanceof BraidError)) throw error;
      if (error.code === 'QUEUED_RUN_GONE') return false;
      // It stays in the queue with the reason: its settings must not be lost.
      store.queue.setReason(id, error.message);
      notices.add({ severity: 'error', message: error.message, remedy: error.remedy ?? null, runId: null });
      changes.publish('stages');
      return false;
    }
  }

  /** An old reason must not pause a new queue, whoever has emptied the one before. */
  function dropOldHold(): void {
    if (hold.get() !== null && store.queue.list().length === 0) hold.set(null);
  }

  function dequeue(stageId: number): void {
    if (requireStage(store, stageId).state === 'queued') store.stages.setState(stageId, 'planned');
    dropOldHold();
    changes.publish('stages');
  }

  updateEnded();
  live.onStart(({ stageId }) => {
    if (stageId === null) return;
    // It is training again; it pauses the queue again if it fails again. A hold on everything waits for the user.
    const held = hold.get();
    if (held?.stageId === stageId && held.all !== true) hold.set(null);
    changes.publish('stages');
  });
  live.onEvents((runId, events) => {
    const stageId = live.get(runId)?.stageId ?? null;
    if (stageId === null || !events.some(({ kind }) => kind === 'evaluation' || kind === 'checkpoint')) return;
    changes.publish('stages');
    const stage = store.stages.get(stageId);
    if (stage === undefined || promotionOf(stage)?.end_early !== true) return;
    if (unmetGoal(store, runId) === null) live.command(runId, 'stop');
  });
  live.onEnd(({ runId, kept, error }) => {
    const lost = kept ? null : (error?.message ?? 'The run could not be started');
    sweeps.ended(runId, lost, error);
    void stages.ended(runId, lost, error === null).then(startNext);
  });

  return {
    start: (stageId) => {
      const stage = requireStage(store, stageId);
      if (stage.state === 'running') throw busy(stage);
      return stages.start(stage);
    },
    enqueue: (stageId) => {
      const stage = requireStage(store, stageId);
      if (stage.state === 'running' || stage.state === 'queued') throw busy(stage);
      // Report errors that can be found now right away, not in the middle of the night.
      stageConfig(store, stage, paths);
      store.stages.setState(stageId, 'queued');
      changes.publish('stages');
      startNext();
    },
    dequeue,
    countAsMet: (stageId, score) => {
      stages.countAsMet(requireStage(store, stageId), score);
      changes.publish('stages');
      startNext();
    },
    reconsider: (stageId) => {
      stages.reconsider(requireStage(store, stageId));
      changes.publish('stages');
      startNext();
    },
    addRun: (config, name) => {
      const id = store.queue.addRun(name, plannedLater(store, config, paths, options.access));
      changes.publish('stages');
      startNext();
      return id;
    },
    addSweep: (sweepId) => {
      const { state, queuedAt, name } = requireSweep(store, sweepId);
      if (queuedAt !== null || state === 'running') throw inputError('SWEEP_BUSY', `"${name}" is already ${state}`);
      store.sweeps.enqueue(sweepId);
      changes.publish('sweeps', sweepId);
      changes.publish('stages');
      startNext();
    },
    list: store.queue.list,
    remove: ({ kind, id }) => {
      if (kind === 'stage') return dequeue(id);
      if (kind === 'sweep') sweeps.pause(id);
      else store.queue.removeRun(id);
      dropOldHold();
      changes.publish('stages');
    },
    removeStage: (stageId) => {
      removeStage(store, stageId);
      dropOldHold();
      changes.publish('stages');
    },
    reorder: (keys) => {
      store.transaction(() => store.queue.reorder(keys));
      changes.publish('stages');
    },
    retry: (id) => {
      store.queue.setReason(id, null);
      changes.publish('stages');
      startNext();
    },
    sweeps,
    held: () => hold.get()?.reason ?? null,
    heldFor: () => hold.get()?.stageId ?? null,
    begin: startNext,
    release: () => {
      hold.set(null);
      startNext();
    },
    holdWaiting: (reason) => {
      const stage = store.stages.queue()[0] ?? store.stages.list().find(({ state }) => state === 'running');
      const waits = stage !== undefined || store.queue.list().length > 0;
      if (waits && hold.get()?.all !== true) hold.set({ stageId: stage?.id ?? null, reason, all: true });
    },
    updateEnded,
    close: () => {
      stages.close();
      sweeps.close();
    },
  };
}

/** A failed stage pauses those behind it; in a workspace from elsewhere the user decides about everything. */
function isHeld(kind: QueueKind, hold: Hold | null): boolean {
  return hold !== null && (kind === 'stage' || hold.all === true);
}

function requireTaken(wasThere: boolean): void {
  if (!wasThere) throw inputError('QUEUED_RUN_GONE', 'The run was taken out of the queue meanwhile');
}

function busy({ name, state }: StageRow): BraidError {
  return inputError('STAGE_BUSY', `"${name}" is already ${state}`);
}
