/** The cost of training: time from the trainer's own estimate, money from an hourly price. */
import type { Store } from '../../store/index.ts';
import { requireRun } from './runs.ts';
import { secondsLeft, stepTimes, trainedSeconds } from './step-times.ts';
import { takenBackOf } from './taken-back.ts';

export interface RunCost {
  readonly seconds: number;
  /** null without a price. */
  readonly cost: number | null;
  readonly currency: string;
}

interface Price {
  readonly hourly_price: number;
  readonly currency: string;
}

/**
 * The time of a run's finished steps with their evaluations and of those that a resume took back, and the estimate for the
 * remaining ones at the same pace.
 */
export function runCost(
  store: Store,
  runId: number,
  price: Price,
): { readonly spent: RunCost; readonly left: RunCost } {
  const run = requireRun(store, runId);
  const { count } = stepTimes(store, runId);
  const remote = store.metrics.overall(runId, 'engine/cost');
  const rewards = store.metrics.overall(runId, 'reward_cost');
  // Evaluations between steps ask judges and a priced engine too.
  const evaluated = store.evaluations
    .ofRun(runId)
    .reduce((sum, { metrics }) => sum + (metrics.eval_reward_cost ?? 0) + (metrics.eval_engine_cost ?? 0), 0);
  const part = (steps: number, took: number): RunCost => {
    const timed = costOf(took, price);
    // An engine's own price counts instead of this machine's.
    const computed = remote.count === 0 ? timed : { ...timed, cost: remote.mean * steps };
    // Steps that reuse a generation ask no judge.
    const asked = count === 0 ? 0 : rewards.mean * rewards.count * (steps / count);
    return rewards.count === 0 ? computed : { ...computed, cost: (computed.cost ?? 0) + asked };
  };
  const repeated = takenBackOf(store, runId);
  const kept = part(count, trainedSeconds(store, runId));
  const timed = costOf(repeated.seconds, price).cost ?? 0;
  const more = evaluated + repeated.rewards + (remote.count === 0 && repeated.engine === 0 ? timed : repeated.engine);
  const seconds = kept.seconds + repeated.seconds;
  const spent = { ...kept, seconds, cost: kept.cost === null && more === 0 ? null : (kept.cost ?? 0) + more };
  return { spent, left: part(Math.max(0, run.maxSteps - run.step), secondsLeft(store, run) ?? 0) };
}

/** Time and money of some seconds at an hourly price; a price of 0 means none is set. */
export function costOf(seconds: number, price: Price): RunCost {
  const cost = price.hourly_price > 0 ? (seconds / 3600) * price.hourly_price : null;
  return { seconds, cost, currency: price.currency };
}
