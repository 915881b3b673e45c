import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { client } from '../api/client.ts';
import { failureOf } from '../api/failure.ts';
import { standingQuery } from './prefetch.ts';
import { applyUpdate, openFeed, type RunFeed } from './run-feed.ts';
import { FRESH_MS } from './use-metrics.ts';

/** Follows a run across lost connections, pauses and resumes. `error` says why it can't be followed. */
export function useRunFeed(runId: number): { readonly feed: RunFeed | null; readonly error: unknown } {
  const queries = useQueryClient();
  const [opening] = useState(() => prefetchedFeed(queries, runId));
  const [feed, setFeed] = useState(opening);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    const controller = new AbortController();
    // Without a prefetched status, the first update provides it; the charts read the past.
    const afterStep = opening?.run.step ?? Number.MAX_SAFE_INTEGER;
    void follow(runId, afterStep, controller.signal, setFeed).catch((problem: unknown) => {
      if (!controller.signal.aborted) setError(problem);
    });
    return () => controller.abort();
  }, [runId, opening]);
  return { feed, error };
}

/** The feed from prefetched data; null if there is none, or it is too old. */
function prefetchedFeed(queries: QueryClient, runId: number): RunFeed | null {
  const { data, dataUpdatedAt = 0 } = queries.getQueryState(standingQuery(runId).queryKey) ?? {};
  return data === undefined || Date.now() - dataUpdatedAt > FRESH_MS ? null : openFeed(data);
}

const RETRY_MS = 500;

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
        set((before) => applyUpdate(before, news));
      }
    } catch (error) {
      // An error from the host is final: there is no such run. Anything else is a lost connection, which is retried.
      if (failureOf(error).code !== null) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}
