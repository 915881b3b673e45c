/** Prefetches the data that screens show first, one query after another, since each depends on the previous one. */
import type { QueryClient } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import { prefetchRun } from '../run/prefetch.ts';
import { byReward } from '../samples/prompts.ts';

/** Kept for as long as the page is open: it is small, and changes on the host invalidate it anyway. */
const kept = { gcTime: Number.POSITIVE_INFINITY };

/** Fetches what a screen lists, unless it is known; what is known and outdated is shown until it is fetched again. */
type FetchList = (queries: QueryClient) => Promise<unknown>;

const models: FetchList = (queries) => queries.ensureQueryData({ ...api.models.list.queryOptions(), ...kept });

/** The screens that are a list; those first that the host answers at once: of thousands of checkpoints it takes its time. */
const lists: Readonly<Record<string, FetchList>> = {
  '/texts/datasets': (queries) => queries.ensureQueryData({ ...api.datasets.list.queryOptions(), ...kept }),
  '/tasks': (queries) => queries.ensureQueryData({ ...api.tasks.list.queryOptions(), ...kept }),
  '/models': models,
  '/compare': (queries) =>
    Promise.all([
      models(queries),
      queries.ensureQueryData({ ...api.comparisons.sources.queryOptions(), ...kept }),
      queries.ensureQueryData({ ...api.comparisons.list.queryOptions(), ...kept }),
    ]),
};

/** Prefetches the screen at a path that is about to be opened; undefined if it needs no data. Never rejects. */
export function prefetchScreen(queries: QueryClient, path: string): Promise<unknown> | undefined {
  const runId = Number(/^\/runs\/(\d+)$/.exec(path)?.[1]);
  if (Number.isInteger(runId)) return prefetchRun(queries, runId);
  // A failure is shown on the screen.
  return lists[path]?.(queries).catch(() => undefined);
}

/** Fills the cache while the app is idle. */
export function prefetchScreensWhenIdle(queries: QueryClient): void {
  // A failure is shown when the screen is opened.
  requestIdleCallback(() => void prefetchScreens(queries).catch(() => undefined));
}

async function prefetchScreens(queries: QueryClient): Promise<void> {
  for (const fetchList of Object.values(lists)) await fetchList(queries);
  await fetchSamples(queries);
  await queries.fetchQuery({ ...api.samples.columns.queryOptions(), ...kept });
  await queries.fetchQuery({ ...api.samples.components.queryOptions(), ...kept });
  await queries.fetchQuery({ ...api.settings.fields.queryOptions(), ...kept });
  await queries.fetchQuery({ ...api.settings.get.queryOptions(), ...kept });
  await queries.fetchQuery({ ...api.datasets.templates.queryOptions(), ...kept });
}

/** The newest step with saved completions, and its best and worst one. */
async function fetchSamples(queries: QueryClient): Promise<void> {
  const runId = await queries.fetchQuery({ ...api.samples.newest.queryOptions(), ...kept });
  if (runId === null) return;
  const { steps } = await queries.fetchQuery({ ...api.samples.ofRun.queryOptions({ input: { runId } }), ...kept });
  const step = steps.at(-1)?.step;
  if (step === undefined) return;
  const samples = byReward(
    await queries.fetchQuery({ ...api.samples.ofStep.queryOptions({ input: { runId, step } }), ...kept }),
  );
  for (const sample of [samples[0], samples.at(-1)]) {
    if (sample === undefined) continue;
    const { group, index } = sample;
    await queries.fetchQuery({
      ...api.samples.get.queryOptions({ input: { runId, step, group, index } }),
      ...kept,
    });
  }
}
