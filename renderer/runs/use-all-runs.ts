/** Every run, newest first, for screens that list, search or count them. */
import { type QueryClient, queryOptions, type UseQueryResult, useQueries, useQuery } from '@tanstack/react-query';
import type { RunSummary } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { allRuns, inputOf, joined, olderPages, olderRunsKey, pageOf } from '../api/run-pages.ts';
import { lastCall } from '../components/last-call.ts';
import { whenIdle } from '../components/use-when-idle.ts';

/**
 * The newest runs come at once and are fetched again after each change. The older ones follow together once they are
 * all there, and only the page of a run that changed is fetched again: ten thousand are eight megabytes.
 */
export function useAllRuns() {
  const { data: newest, error, refetch } = useQuery(api.runs.list.queryOptions({ input: allRuns }));
  const older = useQueries({ queries: olderPages(newest ?? []).map(olderRuns), combine: whole });
  const data = newest === undefined ? undefined : listOf([newest, ...older]);
  return { data, error, refetch };
}

/** Fetches every run; resolves with whether there are older ones than those that come at once. */
export async function fetchAllRuns(queries: QueryClient): Promise<boolean> {
  const newest = await queries.fetchQuery(api.runs.list.queryOptions({ input: allRuns }));
  const older = await Promise.all(olderPages(newest).map((page) => queries.fetchQuery(olderRuns(page))));
  return older.length > 0;
}

type Pages = readonly (readonly RunSummary[])[];

/** One list for all screens. */
const listOf = lastCall(([newest = none, ...older]: Pages) => joined(newest, older.flat()));

const olderRuns = (page: number) =>
  queryOptions({
    queryKey: olderRunsKey(inputOf(page).before - 1),
    queryFn: () => inTurn(async () => (await client.runs.list(inputOf(page))).filter(({ id }) => pageOf(id) === page)),
  });

/** Growing page by page, a list would be sorted and drawn again for each. */
function whole(pages: readonly UseQueryResult<RunSummary[]>[]): Pages {
  return pages.every(({ data }) => data !== undefined) ? pages.map(({ data }) => data ?? none) : none;
}

const none: readonly never[] = [];
let previous: Promise<unknown> = Promise.resolve();

/** One page after another, whenever the app is idle. */
function inTurn<T>(fetch: () => Promise<T>): Promise<T> {
  const page = previous.then(() => new Promise<void>((idle) => void whenIdle(idle))).then(fetch);
  previous = page.catch(() => undefined);
  return page;
}
