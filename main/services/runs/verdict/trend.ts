/** The trend of a metric: means that skip missing values, and a line fitted to the newest steps. Pure. */
import type { StepMetrics } from '../../../store/metrics.ts';
import type { Metrics } from '../../../trainer/protocol/trainer-events.ts';

export interface Trend {
  /** From the first to the last of these steps, along the line. */
  readonly change: number;
  readonly direction: 'up' | 'down' | 'flat';
  /** How many steps have the metric, and how many there are from the first of them to the last. */
  readonly steps: number;
  readonly over: number;
}

/** A change counts above this many standard errors, and above this size. */
const SURE = 2;
const NOTABLE = 0.01;

/** The mean of each metric over the steps that have it; a non-finite value is returned as is, not averaged. */
export function meanOver(steps: readonly StepMetrics[]): Metrics {
  const sums = new Map<string, readonly [sum: number, count: number]>();
  for (const { metrics } of steps) {
    for (const [name, value] of Object.entries(metrics)) {
      const [sum, count] = sums.get(name) ?? [0, 0];
      sums.set(name, [sum + value, count + 1]);
    }
  }
  return Object.fromEntries([...sums].map(([name, [sum, count]]) => [name, sum / count]));
}

/** The newest steps, from the one on by which so many have the metric: a reward may be that of several steps. */
export function newestWith(steps: readonly StepMetrics[], name: string, count: number): readonly StepMetrics[] {
  let found = 0;
  const first = steps.findLastIndex(({ metrics }) => metrics[name] !== undefined && ++found === count);
  return steps.slice(Math.max(0, first));
}

/** Least squares through one metric; null with fewer than two values. */
export function trendOf(steps: readonly StepMetrics[], name: string): Trend | null {
  const points = steps.flatMap(({ step, metrics }) => {
    const value = metrics[name];
    return value === undefined || !Number.isFinite(value) ? [] : [[step, value] as const];
  });
  const count = points.length;
  const [first, last] = [points[0], points.at(-1)];
  if (count < 2 || first === undefined || last === undefined) return null;
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / count;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / count;
  const spreadX = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spreadX;
  const rest = points.reduce((sum, [x, y]) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  const error = count < 3 ? Number.POSITIVE_INFINITY : Math.sqrt(rest / (count - 2) / spreadX);
  const change = slope * (last[0] - first[0]);
  const sure = Math.abs(slope) > SURE * error && Math.abs(change) > NOTABLE;
  return { change, direction: !sure ? 'flat' : change > 0 ? 'up' : 'down', steps: count, over: last[0] - first[0] + 1 };
}
