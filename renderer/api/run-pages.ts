/** The pages in which the runs are fetched: the newest ones, then older ones of fixed ids. Pure. */
import type { RunSummary } from '../../main/api/contract/index.ts';

/** As many as the host returns at once. */
const PAGE = 500;

/** The newest runs: an input shared by screens, so that the list is fetched once. */
export const allRuns = { limit: PAGE };

/** The page of older runs that a run is on. */
export const pageOf = (runId: number): number => Math.floor((runId - 1) / PAGE);

/** The key of the page of older runs that this run is on; null: of all these pages. */
export const olderRunsKey = (runId: number | null): readonly unknown[] =>
  runId === null ? ['older runs'] : ['older runs', pageOf(runId)];

/** What fetches such a page; runs may have been deleted, so that runs of the page before come with it. */
export const inputOf = (page: number) => ({ limit: PAGE, before: (page + 1) * PAGE + 1 });

/** The pages of the runs that are older than the newest ones, newest first. */
export function olderPages(newest: readonly RunSummary[]): readonly number[] {
  const last = newest.at(-1);
  if (last === undefined || newest.length < PAGE) return [];
  return Array.from({ length: pageOf(last.id) + 1 }, (_, i) => pageOf(last.id) - i);
}

/** The newest runs, then those of the older pages. */
export function joined(newest: readonly RunSummary[], older: readonly RunSummary[]): readonly RunSummary[] {
  const last = newest.at(-1);
  return last === undefined || older.length === 0 ? newest : [...newest, ...older.filter(({ id }) => id < last.id)];
}
