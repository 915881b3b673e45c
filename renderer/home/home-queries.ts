/** What the home screen asks for, and how it is asked for before the screen is first drawn. */
import type { QueryClient } from '@tanstack/react-query';
import { api } from '../api/client.ts';

const RECENT = 8;

export const recentRuns = () => api.runs.list.queryOptions({ input: { limit: RECENT } });
export const brokenRuns = () => api.runs.list.queryOptions({ input: { states: ['interrupted'], limit: 5 } });
export const shapesOf = (runs: readonly { readonly id: number }[]) =>
  api.runs.sparklines.queryOptions({ input: { runIds: runs.map(({ id }) => id) } });

/** Fills the cache; whoever shows a part is told of its failure. */
export async function fetchHome(queries: QueryClient): Promise<void> {
  const recent = queries.fetchQuery(recentRuns());
  void queries.prefetchQuery(api.stages.list.queryOptions());
  void queries.prefetchQuery(brokenRuns());
  void queries.prefetchQuery(api.app.status.queryOptions());
  void queries.prefetchQuery(api.app.examined.queryOptions());
  const runs = await recent;
  if (runs.length > 0) void queries.prefetchQuery(shapesOf(runs));
}
