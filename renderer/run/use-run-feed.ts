import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { client } from '../api/client.ts';
import { failureOf } from '../api/failure.ts';
import { standingQuery } from './fetch-opening.ts';
import { openFeed, type RunFeed, takeNews } from './run-feed.ts';
import { FRESH_MS } from './use-metrics.ts';

/** Follows a run: over lost connections, pauses and resumes. `error`: it can't be followed, and why. */
export function useRunFeed(runId: number): { readonly feed: RunFeed | null; readonly error: unknown } {
  const queries = useQueryClient();
  const [opening] = useState(() => fetchedAhead(queries, runId));
  const [feed, setFeed] = useState(opening);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    const controller = new AbortController();
    // Without a standing the first news says where the run stands; its past is read by the charts.
    const afterStep = opening?.run.step ?? Number.MAX_SAFE_INTEGER;
    void follow(runId, afterStep, controller.signal, setFeed).catch((problem: unknown) => {
      if (!controller.signal.aborted) setError(problem);
    });
    return () => controller.abort();
  }, [runId, opening]);
  return { feed, error };
}

/** The feed of what was fetched before the page is drawn; null: nothing, or too long ago. */
function fetchedAhead(queries: QueryClient, runId: number): RunFeed | null {
  const { data, dataUpdatedAt = 0 } = queries.getQueryState(standingQuery(runId).queryKey) ?? {};
  return data === undefined || Date.now() - dataUpdatedAt > FRESH_MS ? null : openFeed(data);
}

const AGAIN_MS = 500;

async function follow(
  runId: number,
  from: number,
  signal: AbortSignal,
  set: (change: (before: RunFeed | null) => RunFeed) => void,
): Promise<void> {
  let afterStep = from;
  while (!signal.aborted) {
    try {
      for await (const news of await client.runs.watch({ runId, afterStep }, { signal })) {
        afterStep = news.run.step;
        set((before) => takeNews(before, news));
      }
    } catch (error) {
      // The host answered, and won't: there is no such run. All else is a line that comes back.
      if (failureOf(error).code !== null) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}
