/** Prefetches what the run page shows in one go; each part on its own would fetch only once it renders. */
import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import { isSupervised } from '../charts/curve-query.ts';
import { extremes } from './best-and-worst.ts';
import { panelsFor, rewardLooks } from './panels.ts';
import { FRESH_MS, metricsQuery } from './use-metrics.ts';

/** A run's status when its page opens; it is followed live from there. */
export function standingQuery(runId: number) {
  return queryOptions({ ...api.runs.standing.queryOptions({ input: { runId } }), staleTime: FRESH_MS });
}

/**
 * Prefetches what is shown first, and resolves once it has arrived. Never rejects: the parts show their own failures.
 */
export async function prefetchRun(queries: QueryClient, runId: number): Promise<void> {
  const input = { runId };
  await Promise.all([
    queries.prefetchQuery(standingQuery(runId)),
    queries.prefetchQuery(api.runs.get.queryOptions({ input })),
    // For a live run, this is read again once the run is followed.
    queries.prefetchQuery(metricsQuery(runId, Object.keys(rewardLooks), null, 0)),
    // The usual smoothing: charts would be drawn twice.
    queries.prefetchQuery(api.settings.get.queryOptions()),
    queries.prefetchQuery(api.runs.lineage.queryOptions({ input })),
  ]);
}

/** Prefetches the rest. */
export async function prefetchRest(queries: QueryClient, runId: number): Promise<void> {
  const input = { runId };
  const { metricNames, sampleSteps, state, method } = await queries.fetchQuery(api.runs.get.queryOptions({ input }));
  // For a live run, the other charts are read once it is followed, so that no step is missed in between.
  if (state !== 'running' && state !== 'paused')
    for (const { looks } of panelsFor(metricNames))
      void queries.prefetchQuery(metricsQuery(runId, Object.keys(looks), null, 0));
  // Requested late: answers come in order, and these take as long as several charts.
  if (!isSupervised({ method })) void queries.prefetchQuery(api.runs.watched.queryOptions({ input }));
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
