/** What the page of a run shows, asked for together: each part by itself would ask only once it is drawn. */
import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import { extremes } from './extremes.ts';
import { panelsFor, rewardLooks } from './panels.ts';
import { FRESH_MS, metricsQuery } from './use-metrics.ts';

/** Where a run stands, as its page begins: it is followed from there on. */
export function standingQuery(runId: number) {
  return queryOptions({ ...api.runs.standing.queryOptions({ input: { runId } }), staleTime: FRESH_MS });
}

/**
 * Fills the cache with what is shown first, and is done when that is there. Never rejects: whoever shows a part is told
 * of its failure.
 */
export async function fetchOpening(queries: QueryClient, runId: number): Promise<void> {
  const input = { runId };
  await Promise.all([
    queries.prefetchQuery(standingQuery(runId)),
    queries.prefetchQuery(api.runs.get.queryOptions({ input })),
    // Of a run that trains it is read again once it is followed.
    queries.prefetchQuery(metricsQuery(runId, Object.keys(rewardLooks), null, 0)),
    queries.prefetchQuery(api.runs.lineage.queryOptions({ input })),
  ]);
}

/** Fills the cache with the rest. */
export async function fetchRest(queries: QueryClient, runId: number): Promise<void> {
  const input = { runId };
  const { metricNames, sampleSteps, state, method } = await queries.fetchQuery(api.runs.get.queryOptions({ input }));
  // Of a run that trains, the other charts are read once it is followed: no step falls between the two.
  if (state !== 'running' && state !== 'paused')
    for (const { looks } of panelsFor(metricNames))
      void queries.prefetchQuery(metricsQuery(runId, Object.keys(looks), null, 0));
  // What is asked for first is answered first, and these take as long as several charts.
  if (method !== 'sft' && method !== 'polychromic-sft')
    void queries.prefetchQuery(api.runs.watched.queryOptions({ input }));
  void queries.prefetchQuery(api.runs.advice.queryOptions({ input }));
  void queries.prefetchQuery(api.runs.cost.queryOptions({ input }));
  const step = sampleSteps.at(-1);
  if (step === undefined) return;
  const { best, worst } = extremes(
    await queries.fetchQuery(api.samples.ofStep.queryOptions({ input: { runId, step } })),
  );
  for (const sample of [best, worst]) {
    if (sample === undefined) continue;
    const { group, index } = sample;
    void queries.prefetchQuery(api.samples.get.queryOptions({ input: { runId, step, group, index } }));
  }
}
