/** The rules of stages in the queue: what becomes of a stage, of those behind it, and of the queue. */
import type { RunRow } from '../../store/runs.ts';
import type { StageRow, StageState } from '../../store/stages.ts';

/** Why the queue is paused, and by which stage. */
export interface Hold {
  /** null: not by a stage. */
  readonly stageId: number | null;
  readonly reason: string;
  /** Runs and sweeps wait, too: they don't depend on a stage that failed. */
  readonly all?: boolean;
}

/** What a stage becomes when its run has ended, and why. `closing`: the app is being closed, which stops its runs. */
export function stateAfter(
  run: Pick<RunRow, 'state' | 'step' | 'maxSteps' | 'reason'>,
  rule: {
    /** What the promotion rule misses; null if it is met or there is none. */
    readonly unmet: string | null;
    /** Whether the stage ends as soon as its rule is met. */
    readonly endEarly: boolean;
  },
  closing: boolean,
): { readonly state: StageState; readonly reason: string | null } {
  const endedEarly = run.state === 'stopped' && rule.unmet === null && rule.endEarly;
  if (run.state === 'done' || endedEarly) return { state: rule.unmet === null ? 'done' : 'unmet', reason: rule.unmet };
  if (run.state !== 'stopped') return { state: 'failed', reason: run.reason ?? `its run is ${run.state}` };
  const stopped = `Stopped at step ${run.step} of ${run.maxSteps}`;
  return { state: 'cancelled', reason: closing ? `${stopped}, when Braid was closed` : stopped };
}

/** Why the queue is paused after a stage has got its state: only a stage that is done lets those behind it start. */
export function holdAfter(settled: {
  readonly stage: Pick<StageRow, 'id' | 'name'>;
  readonly state: StageState;
  readonly reason: string | null;
  /** What waits in the queue. */
  readonly waiting: number;
  readonly held: Hold | null;
}): Hold | null {
  const { stage, state, reason, waiting, held } = settled;
  // No stage's end replaces a hold on everything: only the user ends it.
  if (held?.all === true) return held;
  if (state === 'done') return held?.stageId === stage.id ? null : held;
  return waiting > 0 ? { stageId: stage.id, reason: `"${stage.name}": ${reason ?? state}` } : held;
}

/**
 * The planned stage to queue after one that is done; none if the user has queued something, it has no dataset, or one in
 * between has failed or missed its rule: that waits for a person.
 */
export function nextPlanned(stages: readonly StageRow[], done: StageRow): StageRow | undefined {
  if (stages.some(({ state }) => state === 'queued')) return undefined;
  const next = stages.find(({ position, state }) => position > done.position && state !== 'done');
  return next?.state !== 'planned' || next.datasetId === null ? undefined : next;
}

/** Stages that are marked running although none of the live runs is theirs. */
export function withoutRun(stages: readonly StageRow[], live: ReadonlySet<number | null>): readonly StageRow[] {
  return stages.filter(({ id, state }) => state === 'running' && !live.has(id));
}
