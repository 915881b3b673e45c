/** The rules of a sweep: which trial is next, what becomes of one whose run has ended, who continues. Pure. */
import type { RunRow } from '../../store/runs.ts';
import type { SweepState, TrialRow, TrialState } from '../../store/sweeps.ts';
import { meanOf } from '../../text/intervals.ts';
import { rungSizes, survivors } from './halving.ts';
import type { StoredPlan } from './plan.ts';

/** Starts in a row that the app or the trainer may not survive: what ends them each time must not do so for ever. */
export const MOST_ATTEMPTS = 4;

export type EndedRun = Pick<RunRow, 'state' | 'step' | 'maxSteps' | 'reason'>;

/** What a trial becomes, and for a person's own stop what the sweep does. */
export interface Settled {
  readonly state: TrialState;
  readonly reason: string | null;
  /** 0 unless its app or trainer has died. */
  readonly attempts: number;
  /** Why the sweep pauses; null: it continues. */
  readonly pause: string | null;
}

/** The step at which a trial's run is stopped, for the rung that it is in; null: it trains to its end. */
export function stopStep({ rungs }: StoredPlan, rung: number): number | null {
  return rungs === null || rung >= rungs.length - 1 ? null : (rungs[rung] ?? null);
}

/**
 * After a run has ended. `scored`: it has a score at the end of its rung. `closing`: the app is being closed, or has
 * died; its runs continue from their checkpoints.
 */
export function settle(
  run: EndedRun,
  around: {
    readonly sweep: SweepState;
    readonly attempts: number;
    readonly scored: boolean;
    readonly closing: boolean;
    /** A person has killed it. */
    readonly killed: boolean;
  },
): Settled {
  const { sweep, attempts, scored, closing, killed } = around;
  const died = run.state === 'interrupted' && !killed;
  const as = (state: TrialState, reason: string | null = null, pause: string | null = null): Settled => {
    return { state, reason, pause, attempts: died ? attempts : 0 };
  };
  if (run.state === 'done') return as(scored ? 'reached' : 'done');
  if (run.state === 'collapsed') return as('collapsed', run.reason ?? `Collapsed at step ${run.step}`);
  if (run.state === 'failed') return as('failed', run.reason ?? 'Its run failed');
  if (sweep === 'cancelled') return as('cancelled');
  if (run.state === 'stopped' && scored) return as('reached');
  if (died && attempts >= MOST_ATTEMPTS)
    return as('failed', `${run.reason ?? 'Its trainer died'}, at each of ${attempts} attempts`);
  if (sweep === 'paused' || closing) return as('waiting');
  if (died) return as('waiting', run.reason);
  const how = `A run was ${killed ? 'killed' : 'stopped'} at step ${run.step} of ${run.maxSteps}`;
  // A sweep that is over stays so: a person had resumed one of its runs.
  return sweep === 'done' ? as('cancelled', how) : as('waiting', null, how);
}

/** Failures in a row after which something else is wrong than the settings. */
const MOST_FAILURES = 3;

/** Why a sweep pauses after a failed trial; null: it continues with the others. */
export function failuresInRow(trials: readonly TrialRow[]): string | null {
  // A run that its trainer refused is no longer in the history.
  const wasStarted = ({ runId, attempts }: TrialRow): boolean => runId !== null || attempts > 0;
  const ended = trials.filter((trial) => wasStarted(trial) && trial.state !== 'waiting' && trial.state !== 'running');
  const last = ended.slice(-MOST_FAILURES);
  const waiting = trials.some(({ state }) => state === 'waiting');
  if (!waiting || last.length < MOST_FAILURES || last.some(({ state }) => state !== 'failed')) return null;
  return `${MOST_FAILURES} runs in a row failed: ${last.at(-1)?.reason ?? 'for no known reason'}`;
}

/** The next trial that can start; `doomed`: those that wait for one that has ended without a checkpoint. */
export function nextTrial(trials: readonly TrialRow[]): {
  readonly next: TrialRow | null;
  readonly doomed: readonly TrialRow[];
} {
  const byId = new Map(trials.map((trial) => [trial.id, trial]));
  const waiting = trials.filter(({ state }) => state === 'waiting');
  const rung = Math.min(...waiting.map((trial) => trial.rung));
  const before = (trial: TrialRow): TrialState | null =>
    trial.afterId === null ? null : (byId.get(trial.afterId)?.state ?? 'failed');
  const doomed = waiting.filter((trial) => ['failed', 'cancelled', 'collapsed'].includes(before(trial) ?? ''));
  const next = waiting.find((trial) => trial.rung === rung && [null, 'done'].includes(before(trial)));
  return { next: next ?? null, doomed };
}

/**
 * What happens at the end of the lowest rung that trials have reached: those that continue in the next one, and those
 * that don't. A trial that was retried may reach it after the others have continued or lost: it is ranked among them all.
 * `scoreAt` is the score of a trial at the end of a rung, `rewardAt` its training reward there.
 */
export function promote(
  plan: StoredPlan,
  trials: readonly TrialRow[],
  scoreAt: (trial: TrialRow, rung: number) => number | null,
  rewardAt: (trial: TrialRow, rung: number) => number | null,
): { readonly continuing: readonly TrialRow[]; readonly losing: readonly TrialRow[] } {
  const reached = trials.filter(({ state }) => state === 'reached');
  if (plan.rungs === null || plan.factor === null || reached.length === 0) return { continuing: [], losing: [] };
  const rung = Math.min(...reached.map((trial) => trial.rung));
  const sizes = rungSizes(plan.settings.length, plan.factor, plan.rungs.length);
  const counted = trials.filter((trial) => counts(trial, rung));
  const bySetting = Map.groupBy(counted, ({ setting }) => setting);
  const mean = (own: readonly TrialRow[], at: typeof scoreAt): number | null => {
    const known = own.flatMap((trial) => at(trial, rung) ?? []);
    return known.length === 0 ? null : meanOf(known);
  };
  const scores = [...bySetting].map(([setting, own]) => {
    return { setting, score: mean(own, scoreAt), reward: mean(own, rewardAt) };
  });
  const best = survivors(scores, sizes[rung + 1] ?? 1);
  const closing = reached.filter((trial) => trial.rung === rung);
  return {
    continuing: closing.filter(({ setting }) => best.includes(setting)),
    losing: closing.filter(({ setting }) => !best.includes(setting)),
  };
}

/** Those that compete at the end of a rung, whether they are there now or were before they continued. */
const COMPETING: readonly TrialState[] = ['reached', 'done', 'eliminated', 'collapsed'];

/** A collapse is a result, too: leaving it out would flatter a setting that often collapses. */
function counts({ rung: own, state }: TrialRow, rung: number): boolean {
  return own > rung || (own === rung && COMPETING.includes(state));
}
