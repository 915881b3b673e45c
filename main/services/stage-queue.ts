/** The queue of stages: starts the next when there is room, and stands still after one that did not go well. */
import { BraidError, inputError } from '../errors.ts';
import type { Store } from '../store/index.ts';
import type { RunRow } from '../store/runs.ts';
import type { StageRow, StageState } from '../store/stages.ts';
import type { Changes } from './changes.ts';
import type { LiveRuns } from './live-runs.ts';
import type { Notices } from './notices.ts';
import type { HostPaths } from './paths.ts';
import { metPromotion, promotionOf } from './promotion.ts';
import type { Settings } from './settings.ts';
import { stageConfig } from './stage-config.ts';

export interface StageQueue {
  /** Starts a stage's run at once; throws where there is no room. */
  start(stageId: number): number;
  enqueue(stageId: number): void;
  dequeue(stageId: number): void;
  /** Why the queue stands still; null when it doesn't. */
  held(): string | null;
  /** The stage that it stands still for; null when it doesn't. */
  heldFor(): number | null;
  /** Starts the next stage if there is room; called when the app is open, and when a setting may have made room. */
  begin(): void;
  /** Lets the queue go on after it stood still. */
  release(): void;
  /** Settles stages whose run was ended elsewhere: before this start, or by a command line. */
  settleEnded(): void;
  /** Starts nothing any more: the app is ending. */
  close(): void;
}

export interface StageQueueOptions {
  readonly paths: HostPaths;
  readonly live: LiveRuns;
  readonly changes: Pick<Changes, 'publish'>;
  readonly notices: Pick<Notices, 'add'>;
  readonly settings: () => Settings;
  /** Work between a stage that is done and the next: the queue waits for it. It tells of its own failures. */
  readonly afterStage?: (stage: StageRow) => Promise<void>;
}

/** Why the queue stands still, and because of which stage. */
interface Hold {
  readonly stageId: number;
  readonly reason: string;
}

/** Outlives the app with the queue: a restart must not start what a failure had stopped. */
const HOLD = 'queue_hold';

/** Opens the queue as the store has it. Stages whose run is gone are settled. */
export function openStageQueue(store: Store, options: StageQueueOptions): StageQueue {
  const { paths, live, changes, notices, settings, afterStage } = options;
  let closing = false;
  let between = 0;

  function hold(reason: Hold | null): void {
    store.settings.set(HOLD, reason);
    changes.publish('stages');
  }

  function held(): Hold | null {
    return (store.settings.get(HOLD) as Hold | null | undefined) ?? null;
  }

  function start(stage: StageRow): number {
    return live.start(stageConfig(store, stage, paths), { stageId: stage.id });
  }

  function startNext(): void {
    const next = store.stages.queue()[0];
    const free = !closing && between === 0 && live.list().length === 0;
    if (next === undefined || !free || held() !== null || !settings().run_queue) return;
    try {
      start(next);
    } catch (error) {
      if (!(error instanceof BraidError)) throw error;
      settle(next, 'failed', error.message);
      notices.add({ severity: 'error', message: error.message, remedy: error.remedy ?? null, runId: null });
    }
  }

  function settle(stage: StageRow, state: StageState, reason: string | null): void {
    store.stages.setState(stage.id, state, reason);
    if (state !== 'done' && store.stages.queue().length > 0) {
      hold({ stageId: stage.id, reason: `"${stage.name}": ${reason ?? state}` });
    }
    if (state === 'done' && held()?.stageId === stage.id) hold(null);
    changes.publish('stages');
  }

  /** A stage follows the run of it that ended last, also one that was resumed by hand. */
  function follow(run: RunRow | undefined): StageRow | null {
    const stage = run?.stageId === null || run === undefined ? undefined : store.stages.get(run.stageId);
    if (run === undefined || stage === undefined || run.state === 'running' || run.state === 'paused') return null;
    const [state, reason] = stageStateAfter(store, stage, run);
    settle(stage, state, state === 'cancelled' && closing ? `${reason}, when Braid was closed` : reason);
    if (state === 'unmet') {
      const remedy = 'Give it more steps, change its settings, or lower its rule.';
      notices.add({ severity: 'warning', message: `"${stage.name}": ${reason}`, remedy, runId: run.id });
    }
    if (state === 'done' && settings().auto_promote) promote(stage);
    return store.stages.get(stage.id) ?? null;
  }

  /** The next planned stage joins the queue, unless the person has queued something. */
  function promote(stage: StageRow): void {
    if (store.stages.queue().length > 0) return;
    const next = store.stages.list().find((other) => other.position > stage.position && other.state === 'planned');
    if (next !== undefined && next.datasetId !== null) store.stages.setState(next.id, 'queued');
  }

  async function goOn(ended: StageRow | null): Promise<void> {
    if (ended?.state === 'done' && !closing && afterStage !== undefined) {
      between++;
      await afterStage(ended);
      between--;
    }
    startNext();
  }

  /** A run that was taken back left no row: its stage is the one that says it runs and has no live run. */
  function settleRefused(reason: string): void {
    const liveStages = new Set(live.list().map(({ stageId }) => stageId));
    for (const stage of store.stages.list()) {
      if (stage.state === 'running' && !liveStages.has(stage.id)) settle(stage, 'failed', reason);
    }
  }

  function settleEnded(): void {
    const liveStages = new Set(live.list().map(({ stageId }) => stageId));
    for (const stage of store.stages.list()) {
      if (stage.state !== 'running' || liveStages.has(stage.id)) continue;
      const run = store.runs.list({ stageId: stage.id, limit: 1 })[0];
      if (run === undefined) settle(stage, 'failed', 'Its run is no longer in the history');
      else follow(run);
    }
  }

  settleEnded();
  live.onStart(({ stageId }) => {
    if (stageId === null) return;
    store.stages.setState(stageId, 'running');
    // It is being put right; it holds the queue again if it ends badly again.
    if (held()?.stageId === stageId) hold(null);
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
    if (!kept) settleRefused(error?.message ?? 'The run was refused');
    void goOn(kept ? follow(store.runs.get(runId)) : null);
  });

  return {
    start: (stageId) => {
      const stage = requireStage(store, stageId);
      if (stage.state === 'running') throw busy(stage);
      return start(stage);
    },
    enqueue: (stageId) => {
      const stage = requireStage(store, stageId);
      if (stage.state === 'running' || stage.state === 'queued') throw busy(stage);
      // What can be said to be wrong now is said now, not in the middle of the night.
      stageConfig(store, stage, paths);
      store.stages.setState(stageId, 'queued');
      changes.publish('stages');
      startNext();
    },
    dequeue: (stageId) => {
      if (requireStage(store, stageId).state === 'queued') store.stages.setState(stageId, 'planned');
      // An old reason must not hold a queue that is made anew.
      if (store.stages.queue().length === 0) hold(null);
      changes.publish('stages');
    },
    held: () => held()?.reason ?? null,
    heldFor: () => held()?.stageId ?? null,
    begin: startNext,
    release: () => {
      hold(null);
      startNext();
    },
    settleEnded,
    close: () => {
      closing = true;
    },
  };
}

/** The stage, or an error that says which one is missing. */
export function requireStage(store: Pick<Store, 'stages'>, stageId: number): StageRow {
  const stage = store.stages.get(stageId);
  if (stage !== undefined) return stage;
  throw inputError('STAGE_UNKNOWN', `Expected the id of a stage, got ${stageId}: there is none`);
}

function busy({ name, state }: StageRow): BraidError {
  return inputError('STAGE_BUSY', `Expected "${name}" to be neither queued nor running, but it is ${state}`);
}

function stageStateAfter(store: Store, stage: StageRow, run: RunRow): readonly [StageState, string | null] {
  const unmet = metPromotion(store, stage, run);
  const endedEarly = run.state === 'stopped' && unmet === null && promotionOf(stage)?.end_early === true;
  if (run.state === 'done' || endedEarly) return unmet === null ? ['done', null] : ['unmet', unmet];
  if (run.state === 'stopped') return ['cancelled', `Stopped at step ${run.step} of ${run.maxSteps}`];
  return ['failed', run.reason ?? `its run is ${run.state}`];
}
