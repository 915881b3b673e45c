/** Chart series from the host's buckets of past steps and the newest individual steps. Pure. */
import type { MetricBucket, StepMetrics } from '../../main/api/contract/index.ts';
import type { ZoomRange } from '../charts/ChartGroup.tsx';
import type { ChartSeries } from '../charts/series.ts';

export type Look = Omit<ChartSeries, 'id' | 'x' | 'y' | 'low' | 'high'>;

/** One metric: its buckets, then the later steps of the tail, up to the end of the zoom. */
export function metricSeries(
  name: string,
  look: Look,
  buckets: readonly MetricBucket[],
  tail: readonly StepMetrics[],
  range: ZoomRange | null,
): ChartSeries {
  const x = buckets.map(({ lastStep }) => lastStep);
  const y = buckets.map(({ mean }) => mean);
  const low = buckets.map(({ min }) => min);
  const high = buckets.map(({ max }) => max);
  const counts = buckets.map(({ count }) => count);
  const last = x.at(-1) ?? -1;
  for (const { step, metrics } of tail) {
    const value = metrics[name];
    if (step <= last || value === undefined || (range !== null && step > range.to)) continue;
    x.push(step);
    y.push(value);
    low.push(value);
    high.push(value);
    counts.push(1);
  }
  const banded = buckets.some(({ count }) => count > 1);
  return { id: name, ...look, x, y, ...(banded && { low, high, counts }) };
}

/** Whole steps around a zoom, for the host. */
export function stepsAround({ from, to }: ZoomRange): { readonly from: number; readonly to: number } {
  return { from: Math.max(0, Math.floor(from)), to: Math.max(0, Math.ceil(to)) };
}
