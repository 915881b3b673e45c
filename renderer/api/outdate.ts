import type { Query, QueryClient, QueryKey } from '@tanstack/react-query';

/**
 * Invalidates the queries under a key. React Query keeps a query's first fetch, whose answer may be older than the
 * change that invalidates it, and would then take the answer for fresh: such a query is invalidated again after it.
 */
export async function outdate(queries: QueryClient, queryKey: QueryKey): Promise<void> {
  const first = queries.getQueryCache().findAll({ queryKey, predicate: isFirstFetch });
  await queries.invalidateQueries({ queryKey });
  if (first.length === 0) return;
  await Promise.allSettled(first.map(({ promise }) => promise));
  await queries.invalidateQueries({ queryKey, predicate: (query) => first.includes(query) });
}

function isFirstFetch({ state }: Query): boolean {
  return state.data === undefined && state.fetchStatus !== 'idle';
}
