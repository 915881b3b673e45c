/** The queue of stages: starts the next when there is room, and stands still after one that did not go well. */
import { BraidError, inputError } from '../errors.ts';
import type { Store } from '../store/index.ts';
import type { RunRow } from '../store/runs.ts';
import type { StageRow, StageState } from '../store/stages.ts';
import type { Changes } from './changes.ts';
import type { LiveRuns } from './live-runs.ts';
import type { Notices } from './notices.ts';
import type { HostPaths } from './paths.ts';
import { metPromotion } from './promotion.ts';
import type { Settings } from './settings.ts';
import { stageConfig } from './stage-config.ts';

export interface StageQueue {
  /** Starts a stage's run at once; throws where there is no room. */
  start(stageId: number): number;
  enqueue(stageId: number): void;
  dequeue(stageId: number): void;
  /** Why the queue stands still; null when it doesn't. */
  held(): string | null;
  /** Starts the next stage if there is room; called once when the app is open. */
  begin(): void;
  /** Lets the queue go on after it stood still. */
  release(): void;
}

export interface StageQueueOptions {
  readonly paths: HostPaths;
  readonly live: LiveRuns;
  readonly changes: Pick<Changes, 'publish'>;
  readonly notices: Pick<Notices, 'add'>;
  readonly settings: () => Settings;
}

/** Outlives the app with the queue: a restart must not start what a failure had stopped. */
const HOLD = 'queue_hold';

/** Opens the queue as the store has it. Stages whose run is gone are settled. */
export function openStageQueue(store: Store, options: StageQueueOptions): StageQueue {
  const { paths, live, changes, notices, settings } = options;

  function hold(reason: string | null): void {
    store.settings.set(HOLD, reason);
    changes.publish('stages');
  }

  function held(): string | null {
    const reason = store.settings.get(HOLD);
    return typeof reason === 'string' ? reason : null;
  }

  function start(stage: StageRow): number {
    const runId = live.start(stageConfig(store, stage, paths), stage.id);
    store.stages.setState(stage.id, 'running');
    changes.publish('stages');
    return runId;
  }

  function startNext(): void {
    const next = store.stages.queue()[0];
    if (next === undefined || held() !== null || !settings().run_queue || live.list().length > 0) return;
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
    if (state !== 'done' && store.stages.queue().length > 0) hold(`"${stage.name}": ${reason ?? state}`);
    changes.publish('stages');
  }

  /** A stage follows the newest of its runs, also one that is resumed by hand. */
  function follow(run: RunRow | undefined): void {
    const stage = run?.stageId === null || run === undefined ? undefined : store.stages.get(run.stageId);
    if (run === undefined || stage === undefined) return;
    const [state, reason] = stageStateAfter(store, stage, run);
    settle(stage, state, reason);
  }

  for (const stage of store.stages.list()) {
    if (stage.state === 'running') follow(store.runs.list({ stageId: stage.id, limit: 1 })[0]);
  }
  live.onEnd(({ runId, kept, error }) => {
    if (kept) follow(store.runs.get(runId));
    else settleRefused(error?.message ?? 'The run was refused');
    startNext();
  });

  /** A run that was taken back left no row: its stage is the one that says it runs and has no live run. */
  function settleRefused(reason: string): void {
    const liveStages = new Set(live.list().map(({ stageId }) => stageId));
    for (const stage of store.stages.list()) {
      if (stage.state === 'running' && !liveStages.has(stage.id)) settle(stage, 'failed', reason);
    }
  }

  return {
    start: (stageId) => start(requireStage(store, stageId)),
    enqueue: (stageId) => {
      const stage = requireStage(store, stageId);
      if (stage.state === 'running' || stage.state === 'queued')
        throw inputError(
          'STAGE_BUSY',
          `Expected "${stage.name}" to be neither queued nor running, but it is ${stage.state}`,
        );
      // What can be said to be wrong now is said now, not in the middle of the night.
      stageConfig(store, stage, paths);
      store.stages.setState(stageId, 'queued');
      changes.publish('stages');
      startNext();
    },
    dequeue: (stageId) => {
      if (requireStage(store, stageId).state === 'queued') store.stages.setState(stageId, 'planned');
      changes.publish('stages');
    },
    held,
    begin: startNext,
    release: () => {
      hold(null);
      startNext();
    },
  };
}

/** The stage, or an error that says which one is missing. */
export function requireStage(store: Pick<Store, 'stages'>, stageId: number): StageRow {
  const stage = store.stages.get(stageId);
  if (stage !== undefined) return stage;
  throw inputError('STAGE_UNKNOWN', `Expected the id of a stage, got ${stageId}: there is none`);
}

function stageStateAfter(store: Store, stage: StageRow, run: RunRow): readonly [StageState, string | null] {
  if (run.state === 'done') {
    const unmet = metPromotion(store, stage, run);
    return unmet === null ? ['done', null] : ['unmet', unmet];
  }
  return ['failed', run.reason ?? `its run is ${run.state}`];
}
