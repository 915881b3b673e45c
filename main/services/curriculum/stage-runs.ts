/** Runs of stages, each followed to its end. */
import { BraidError, inputError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import type { RunRow } from '../../store/runs.ts';
import type { StageRow, StageState } from '../../store/stages.ts';
import { reaches } from '../../text/intervals.ts';
import type { EngineAccess } from '../engines/engine-for.ts';
import { unmetGoal } from '../runs/held-out.ts';
import { metReason, metWithoutTraining, promotionOf } from '../runs/promotion.ts';
import type { LiveRuns } from '../training/live-runs.ts';
import type { Changes } from '../workspace/changes.ts';
import type { Notices } from '../workspace/notices.ts';
import type { HostPaths } from '../workspace/paths.ts';
import type { Settings } from '../workspace/settings.ts';
import { stageConfig } from './stage-config.ts';
import { type Hold, holdAfter, nextPlanned, stateAfter, withoutRun } from './stage-rules.ts';

export interface StageRunsOptions {
  readonly paths: HostPaths;
  readonly live: LiveRuns;
  readonly changes: Pick<Changes, 'publish'>;
  readonly notices: Pick<Notices, 'add'>;
  readonly settings: () => Settings;
  /** By default the user's own. */
  readonly access?: EngineAccess;
  /** Work between a stage that is done and the next: the queue waits for it, and continues if it fails. */
  readonly afterStage?: (stage: StageRow) => Promise<void>;
}

export interface StageRuns {
  /** Starts a stage's run at once; throws if there is no room. */
  start(stage: StageRow): number;
  /** Starts a stage from the queue; one that can't start fails. Returns whether it started. */
  startQueued(stage: StageRow): boolean;
  /** Counts a stage as met by this held-out score, without training it; throws if that doesn't meet its rule. */
  countAsMet(stage: StageRow, score: number): void;
  /** Work between two stages is being done. */
  isBusy(): boolean;
  /**
   * After a run has ended: its stage gets its state, and the work after it is done. `error`: why a run left no row.
   * `hasTrained`: not where a finished run could not be resumed, which lets nothing follow it again.
   */
  ended(runId: number, error: string | null, hasTrained?: boolean): Promise<void>;
  /** After a stage's rule was changed: one that had missed it may meet the new one. */
  reconsider(stage: StageRow): void;
  /** Updates stages whose run ended elsewhere: before this start, or by a command line. */
  updateEnded(): void;
  /** Starts nothing more: the app is quitting. */
  close(): void;
}

/** Starts and follows the runs of stages; `hold` is why the queue is paused. */
export function openStageRuns(
  store: Store,
  hold: { get(): Hold | null; set(hold: Hold | null): void },
  { paths, live, notices, settings, afterStage }: StageRunsOptions,
): StageRuns {
  let closing = false;
  let between = 0;

  function start(stage: StageRow, endIfMet = false): number {
    const onStored = (): void => void store.stages.setState(stage.id, 'running');
    return live.start(stageConfig(store, stage, paths), { stageId: stage.id, onStored, endIfMet });
  }

  function startQueued(stage: StageRow): boolean {
    try {
      start(stage, settings().auto_promote || promotionOf(stage)?.end_early === true);
      return true;
    } catch (error) {
      if (!(error instanceof BraidError)) throw error;
      settle(stage, 'failed', error.message);
      notices.add({ severity: 'error', message: error.message, remedy: error.remedy ?? null, runId: null });
      return false;
    }
  }

  function settle(stage: StageRow, state: StageState, reason: string | null): void {
    store.stages.setState(stage.id, state, reason);
    holdWith(stage, state, reason);
  }

  function holdWith(stage: StageRow, state: StageState, reason: string | null): void {
    hold.set(holdAfter({ stage, state, reason, waiting: store.stages.queue().length, held: hold.get() }));
  }

  /** Where promotion is automatic, the next stage follows one that is done. */
  function promote(stage: StageRow): void {
    const next = settings().auto_promote ? nextPlanned(store.stages.list(), stage) : undefined;
    if (next !== undefined) store.stages.setState(next.id, 'queued');
  }

  /** The stage is done without training; the next one starts from what it would have started from. */
  function countAsMet(stage: StageRow, score: number): void {
    const rule = promotionOf(stage);
    if (stage.state === 'running') throw inputError('STAGE_BUSY', `"${stage.name}" is training`, 'Stop its run first.');
    if (rule === null || !reaches(score, rule.at_least))
      throw inputError(
        'RULE_NOT_MET',
        `Expected a held-out score that meets the rule of "${stage.name}" (${rule === null ? 'it has none' : `at least ${rule.at_least}`}), got ${score}`,
        'Train it, or change its rule.',
      );
    store.transaction(() => markAsMet(stage, score, metReason(score, rule)));
  }

  function markAsMet(stage: StageRow, score: number, reason: string): void {
    store.stages.countAsMet(stage.id, score, reason);
    holdWith(stage, 'done', reason);
    promote(stage);
  }

  /**
   * A stage's state follows its most recently ended run, even one resumed by hand. With it, or not at all, the next one
   * is queued: what a kill or a full disk keeps from being stored is found again as a stage without a run.
   */
  function follow(run: RunRow | undefined, hasTrained = true): StageRow | null {
    const stage = run?.stageId === null || run === undefined ? undefined : store.stages.get(run.stageId);
    if (run === undefined || stage === undefined || run.state === 'running' || run.state === 'paused') return null;
    const met = metWithoutTraining(store, run);
    const promotion = promotionOf(stage);
    if (met !== null && promotion !== null && run.state === 'stopped') {
      const reason = metReason(met, promotion);
      store.transaction(() => {
        store.runs.setState(run.id, run.state, reason);
        markAsMet(stage, met, reason);
      });
      return store.stages.get(stage.id) ?? null;
    }
    const rule = { unmet: unmetGoal(store, run.id), endEarly: promotion?.end_early === true };
    const { state, reason } = stateAfter(run, rule, closing);
    store.transaction(() => {
      settle(stage, state, reason);
      if (state === 'done' && hasTrained) promote(stage);
    });
    if (state === 'unmet') {
      const remedy = 'Give it more steps, change its settings, or lower its rule.';
      notices.add({ severity: 'warning', message: `"${stage.name}": ${reason}`, remedy, runId: run.id });
    }
    return store.stages.get(stage.id) ?? null;
  }

  /** Whatever comes of the work between two stages, the queue continues: the stages don't depend on it. */
  async function workBetween(ended: StageRow, work: NonNullable<typeof afterStage>): Promise<void> {
    between++;
    try {
      await work(ended);
    } catch (error) {
      notices.add({
        severity: 'warning',
        message: `The work after "${ended.name}" failed: ${error instanceof Error ? error.message : String(error)}`,
        remedy: 'The queue continues without it.',
        runId: null,
      });
    } finally {
      between--;
    }
  }

  /** Stages that are marked running and have no live run. */
  function orphans(): readonly StageRow[] {
    return withoutRun(store.stages.list(), new Set(live.list().map(({ stageId }) => stageId)));
  }

  return {
    start: (stage) => start(stage),
    startQueued,
    countAsMet,
    isBusy: () => closing || between > 0,
    ended: async (runId, error, hasTrained = true) => {
      if (error !== null) for (const stage of orphans()) settle(stage, 'failed', error);
      const ended = error === null ? follow(store.runs.get(runId), hasTrained) : null;
      if (ended?.state === 'done' && hasTrained && !closing && afterStage !== undefined)
        await workBetween(ended, afterStage);
    },
    reconsider: (stage) => {
      const [run] = store.runs.ofStage(stage.id);
      if (stage.state !== 'unmet' || run === undefined) return;
      const unmet = unmetGoal(store, run.id);
      if (unmet === null) follow(run);
      else if (unmet !== stage.reason) store.stages.setState(stage.id, 'unmet', unmet);
    },
    updateEnded: () => {
      for (const stage of orphans()) {
        const [run] = store.runs.ofStage(stage.id);
        if (run === undefined) settle(stage, 'failed', 'Its run is no longer in the history');
        else follow(run);
      }
    },
    close: () => {
      closing = true;
    },
  };
}

/** The stage, or an error if there is none. */
export function requireStage(store: Pick<Store, 'stages'>, stageId: number): StageRow {
  const stage = store.stages.get(stageId);
  if (stage !== undefined) return stage;
  throw inputError('STAGE_UNKNOWN', `There is no stage with id ${stageId}`);
}
