/** The Home screen's queries, and their prefetch before it first renders. */
import type { QueryClient } from '@tanstack/react-query';
import { api } from '../api/client.ts';

const RECENT = 8;

export const recentRuns = () => api.runs.list.queryOptions({ input: { limit: RECENT } });
export const interruptedRuns = () => api.runs.list.queryOptions({ input: { states: ['interrupted'], limit: 5 } });
export const sparklinesOf = (runs: readonly { readonly id: number }[]) =>
  api.runs.sparklines.queryOptions({ input: { runIds: runs.map(({ id }) => id) } });

/** Fills the cache; the parts of the screen show their own failures. */
export async function fetchHome(queries: QueryClient): Promise<void> {
  const recent = queries.fetchQuery(recentRuns());
  void queries.prefetchQuery(api.stages.list.queryOptions());
  void queries.prefetchQuery(interruptedRuns());
  void queries.prefetchQuery(api.app.status.queryOptions());
  void queries.prefetchQuery(api.app.examined.queryOptions());
  const runs = await recent;
  if (runs.length > 0) void queries.prefetchQuery(sparklinesOf(runs));
}
