/** Search queries, and their prefetch before the search is opened. */
import type { QueryClient } from '@tanstack/react-query';
import type { SampleFilter, SampleOrder } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { hostFilter, noFilter } from './place.ts';

/** Completions per page. */
export const PAGE = 100;

/** One page of the results of a filter. */
export function foundPage(filter: SampleFilter, order: SampleOrder, page: number) {
  return api.samples.find.queryOptions({ input: { filter, order, limit: PAGE, offset: page * PAGE } });
}

/** Prefetches what the search of a run shows first; a failure is shown when it is opened. */
export async function fetchFound(queries: QueryClient, runId: number): Promise<void> {
  const filter = hostFilter(noFilter, runId);
  void queries.prefetchQuery(api.samples.count.queryOptions({ input: filter }));
  const [first] = await queries.fetchQuery(foundPage(filter, noFilter.order, 0));
  if (first === undefined) return;
  const { step, group, index } = first;
  void queries.prefetchQuery(api.samples.get.queryOptions({ input: { runId, step, group, index } }));
}
