/** A run as one look at it shows: state, curve, held-out scores, verdict, extreme completions. Writes nothing. */
import type { EvaluationRow } from '../../store/evaluations.ts';
import type { EventRow } from '../../store/events.ts';
import type { Store } from '../../store/index.ts';
import type { RunRow } from '../../store/runs.ts';
import { WARM_UP_LOSS } from '../../trainer/config/config.ts';
import { isHostAlive } from '../workspace/host.ts';
import { type HeldOutStanding, heldOutScores, standingOf } from './held-out.ts';
import { type RunSummary, runSummary } from './history.ts';
import { requireRun } from './runs.ts';
import { type Extremes, stepExtremes } from './samples/samples.ts';
import { secondsLeft, warmUpSteps } from './step-times.ts';
import { type Advice, runAdvice } from './verdict/advice.ts';
import { runVerdict } from './verdict/run-verdict.ts';
import type { Verdict } from './verdict/verdict.ts';

export interface RunView {
  readonly run: RunSummary;
  /** Whether it trains or is paused, in a process that exists. */
  readonly live: boolean;
  /** Of the newest steps, or estimated before the first; null if unknown. */
  readonly secondsPerStep: number | null;
  /** Null if unknown, and for a run that has ended. */
  readonly secondsLeft: number | null;
  readonly curve: RunCurve;
  /** Of this run's own held-out records, by step. */
  readonly heldOut: readonly Pick<EvaluationRow, 'step' | 'mean' | 'low' | 'high' | 'n'>[];
  /** Where the newest of them stands; null: there is none. */
  readonly standing: HeldOutStanding | null;
  readonly verdict: Verdict;
  readonly advice: readonly Advice[];
  /** Of the newest step with stored completions; null before the first. */
  readonly extremes: Extremes | null;
  /** The newest last. */
  readonly events: readonly EventRow[];
}

export interface RunCurve {
  /** A supervised run has no reward, nor has a warm-up. */
  readonly metric: 'reward' | 'loss' | typeof WARM_UP_LOSS;
  /** Means of equal parts of the steps so far; NaN where there is none. */
  readonly values: readonly number[];
  /** How many such parts the whole run has. */
  readonly total: number;
}

/** Steps whose time counts as the pace now. */
const PACE = 20;

/** One look at a run; its curve has at most `points` values. */
export function runView(store: Store, runId: number, points = 200, alive = isHostAlive): RunView {
  const found = runSummary(store, runId);
  const open = found.state === 'running' || found.state === 'paused';
  const live = open && alive(found, store.now());
  const events = store.events.ofRun(runId);
  const row = requireRun(store, runId);
  const secondsPerStep = paceOf(store, row, warmUpSteps(row), events);
  return {
    run: open && !live ? { ...found, state: 'interrupted', reason: goneReason(found) } : found,
    live,
    secondsPerStep,
    secondsLeft: live ? leftOf(store, row, secondsPerStep) : null,
    curve: curveOf(store, found, points),
    heldOut: heldOutScores(store, row),
    standing: standingOf(store, row),
    verdict: runVerdict(store, runId),
    advice: runAdvice(store, runId),
    extremes: stepExtremes(store, runId),
    events,
  };
}

/** The history still calls it running: the next start of Braid in this workspace marks it. */
function goneReason({ pid }: Pick<RunSummary, 'pid'>): string {
  return `Its process (${pid ?? 'unknown'}) no longer exists`;
}

/** At the pace of the newest steps; the steps after a warm-up have another. */
function leftOf(store: Store, run: RunRow, secondsPerStep: number | null): number | null {
  return run.step < warmUpSteps(run) ? secondsLeft(store, run) : secondsLeft(store, run, secondsPerStep);
}

function paceOf(
  store: Store,
  { id, step }: Pick<RunRow, 'id' | 'step'>,
  warmUp: number,
  events: readonly EventRow[],
): number | null {
  const from = step > warmUp ? Math.max(step - PACE, warmUp) : step - PACE;
  const times = store.metrics
    .after(id, from, PACE)
    .map(({ metrics }) => metrics.step_time ?? Number.NaN)
    .filter((seconds) => Number.isFinite(seconds));
  if (times.length > 0) return times.reduce((sum, seconds) => sum + seconds, 0) / times.length;
  const estimate = events.findLast(({ kind }) => kind === 'estimate')?.data as { secondsPerStep?: unknown } | undefined;
  return typeof estimate?.secondsPerStep === 'number' ? estimate.secondsPerStep : null;
}

function curveMetric(method: string, latest: RunSummary['latest']): RunCurve['metric'] {
  if (latest.reward !== undefined) return 'reward';
  if (latest[WARM_UP_LOSS] !== undefined) return WARM_UP_LOSS;
  return method === 'sft' || latest.loss !== undefined ? 'loss' : 'reward';
}

function curveOf(store: Store, { id, step, maxSteps, method, latest }: RunSummary, points: number): RunCurve {
  const metric = curveMetric(method, latest);
  if (step === 0) return { metric, values: [], total: points };
  const whole = Math.max(step, maxSteps);
  const count = Math.min(step, Math.max(1, Math.round((points * step) / whole)));
  const buckets = store.metrics.buckets(id, metric, count, { from: 1, to: step });
  const values = Array<number>(count).fill(Number.NaN);
  for (const { lastStep, mean } of buckets)
    values[Math.min(count - 1, Math.floor(((lastStep - 1) * count) / step))] = mean;
  return { metric, values, total: (count * whole) / step };
}
