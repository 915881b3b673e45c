/** What the search asks the host for, and how it is asked for before the search is opened. */
import type { QueryClient } from '@tanstack/react-query';
import type { SampleFilter, SampleOrder } from '../../main/store/sample-finder.ts';
import { api } from '../api/client.ts';
import { hostFilter, noFilter } from './place.ts';

/** Completions that are fetched together. */
export const PAGE = 100;

/** One page of what a filter means. */
export function foundPage(filter: SampleFilter, order: SampleOrder, page: number) {
  return api.samples.find.queryOptions({ input: { filter, order, limit: PAGE, offset: page * PAGE } });
}

/** What the search of a run shows when it is opened; whoever opens it is told of a failure. */
export async function fetchFound(queries: QueryClient, runId: number): Promise<void> {
  const filter = hostFilter(noFilter, runId);
  void queries.prefetchQuery(api.samples.count.queryOptions({ input: filter }));
  const [first] = await queries.fetchQuery(foundPage(filter, noFilter.order, 0));
  if (first === undefined) return;
  const { step, group, index } = first;
  void queries.prefetchQuery(api.samples.get.queryOptions({ input: { runId, step, group, index } }));
}
