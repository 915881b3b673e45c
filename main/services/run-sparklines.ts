/** The shape of a metric of many runs, small enough for a list. */
import type { Store } from '../store/index.ts';

/** By run id, at most `count` means of equal stretches, in order; a run without the metric has none. */
export function sparklines(
  store: Store,
  runIds: readonly number[],
  name: string,
  count: number,
): Readonly<Record<number, readonly number[]>> {
  return Object.fromEntries(runIds.map((id) => [id, store.metrics.buckets(id, name, count).map(({ mean }) => mean)]));
}
