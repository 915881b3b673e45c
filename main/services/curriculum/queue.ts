/** The queue of stages: starts the next when there is room, and pauses after one that failed or missed its rule. */
import { type BraidError, inputError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import type { StageRow } from '../../store/stages.ts';
import { metPromotion, promotionOf } from '../runs/promotion.ts';
import type { Hold } from './queue-rules.ts';
import { stageConfig } from './stage-config.ts';
import { openStageRuns, type StageRunsOptions } from './stage-runs.ts';

export interface StageQueue {
  /** Starts a stage's run at once; throws if there is no room. */
  start(stageId: number): number;
  enqueue(stageId: number): void;
  dequeue(stageId: number): void;
  /** Why the queue is paused; null if it isn't. */
  held(): string | null;
  /** The stage that paused it; null if it isn't paused. */
  heldFor(): number | null;
  /** Starts the next stage if there is room; called once the app is open, and when a setting may have made room. */
  begin(): void;
  /** Resumes a paused queue. */
  release(): void;
  /** Pauses the queue with a reason, if anything waits in it. */
  holdWaiting(reason: string): void;
  /** Updates stages whose run ended elsewhere: before this start, or by a command line. */
  updateEnded(): void;
  /** Stops starting stages: the app is quitting. */
  close(): void;
}

/** Persisted with the queue: a restart must not start what a failure had stopped. */
const HOLD = 'queue_hold';

/** Opens the queue from the store. Stages whose run is gone are updated. */
export function openStageQueue(store: Store, options: StageRunsOptions): StageQueue {
  const { paths, live, changes } = options;
  const hold = {
    get: () => (store.settings.get(HOLD) as Hold | null | undefined) ?? null,
    set: (next: Hold | null): void => {
      store.settings.set(HOLD, next);
      changes.publish('stages');
    },
  };
  const runs = openStageRuns(store, hold, options);

  runs.updateEnded();
  live.onStart(({ stageId }) => {
    if (stageId === null) return;
    store.stages.setState(stageId, 'running');
    // It is training again; it pauses the queue again if it fails again.
    if (hold.get()?.stageId === stageId) hold.set(null);
    changes.publish('stages');
  });
  live.onEvents((runId, events) => {
    const stageId = live.get(runId)?.stageId ?? null;
    if (stageId === null || !events.some(({ kind }) => kind === 'evaluation' || kind === 'checkpoint')) return;
    changes.publish('stages');
    const stage = store.stages.get(stageId);
    if (stage === undefined || promotionOf(stage)?.end_early !== true) return;
    if (metPromotion(store, stage, { id: runId }) === null) live.command(runId, 'stop');
  });
  live.onEnd(({ runId, kept, error }) => {
    runs.ended(runId, kept ? null : (error?.message ?? 'The run could not be started'));
  });

  return {
    start: (stageId) => {
      const stage = requireStage(store, stageId);
      if (stage.state === 'running') throw busy(stage);
      return runs.start(stage);
    },
    enqueue: (stageId) => {
      const stage = requireStage(store, stageId);
      if (stage.state === 'running' || stage.state === 'queued') throw busy(stage);
      // Report errors that can be found now right away, not in the middle of the night.
      stageConfig(store, stage, paths);
      store.stages.setState(stageId, 'queued');
      changes.publish('stages');
      runs.startNext();
    },
    dequeue: (stageId) => {
      if (requireStage(store, stageId).state === 'queued') store.stages.setState(stageId, 'planned');
      // An old reason must not pause a new queue.
      if (store.stages.queue().length === 0) hold.set(null);
      changes.publish('stages');
    },
    held: () => hold.get()?.reason ?? null,
    heldFor: () => hold.get()?.stageId ?? null,
    begin: runs.startNext,
    release: () => {
      hold.set(null);
      runs.startNext();
    },
    holdWaiting: (reason) => {
      const waiting = store.stages.queue()[0] ?? store.stages.list().find(({ state }) => state === 'running');
      if (waiting !== undefined && hold.get() === null) hold.set({ stageId: waiting.id, reason });
    },
    updateEnded: runs.updateEnded,
    close: runs.close,
  };
}

/** The stage, or an error if there is none. */
export function requireStage(store: Pick<Store, 'stages'>, stageId: number): StageRow {
  const stage = store.stages.get(stageId);
  if (stage !== undefined) return stage;
  throw inputError('STAGE_UNKNOWN', `There is no stage with id ${stageId}`);
}

function busy({ name, state }: StageRow): BraidError {
  return inputError('STAGE_BUSY', `"${name}" is already ${state}`);
}
