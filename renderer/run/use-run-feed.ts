import { useEffect, useState } from 'react';
import { client } from '../api/client.ts';
import { failureOf } from '../api/failure.ts';
import { type RunFeed, takeNews } from './run-feed.ts';

/** Follows a run: over lost connections, pauses and resumes. `error`: it can't be followed, and why. */
export function useRunFeed(runId: number): { readonly feed: RunFeed | null; readonly error: unknown } {
  const [feed, setFeed] = useState<RunFeed | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    const controller = new AbortController();
    void follow(runId, controller.signal, setFeed).catch((problem: unknown) => {
      if (!controller.signal.aborted) setError(problem);
    });
    return () => controller.abort();
  }, [runId]);
  return { feed, error };
}

const AGAIN_MS = 500;

async function follow(
  runId: number,
  signal: AbortSignal,
  set: (change: (before: RunFeed | null) => RunFeed) => void,
): Promise<void> {
  // The first news says where the run stands; its past is read by the charts.
  let afterStep = Number.MAX_SAFE_INTEGER;
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
