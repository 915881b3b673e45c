/** The cost of training: time from the trainer's own estimate, money from an hourly price. */
import type { Store } from '../../store/index.ts';
import { requireRun } from './runs.ts';

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

/** The time of a run's finished steps, and the estimate for the remaining ones at the same pace. */
export function runCost(
  store: Store,
  runId: number,
  price: Price,
): { readonly spent: RunCost; readonly left: RunCost } {
  const { step, maxSteps } = requireRun(store, runId);
  const { count, mean } = store.metrics.overall(runId, 'step_time');
  const pace = count === 0 ? 0 : mean;
  return { spent: costOf(pace * count, price), left: costOf(pace * Math.max(0, maxSteps - step), price) };
}

/** Time and money of some seconds at an hourly price; a price of 0 means none is set. */
export function costOf(seconds: number, price: Price): RunCost {
  const cost = price.hourly_price > 0 ? (seconds / 3600) * price.hourly_price : null;
  return { seconds, cost, currency: price.currency };
}
