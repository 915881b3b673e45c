/** Keeps what is on show true: each change of the host makes the queries that show it fetch anew. */
import type { QueryClient } from '@tanstack/react-query';
import type { Change, Topic } from '../../main/services/changes.ts';
import { api, client } from './client.ts';
import { connection } from './connection.ts';
import { seldom } from './seldom.ts';

/** The queries that a topic makes stale. */
const stale: { readonly [topic in Topic]: readonly (readonly unknown[])[] } = {
  status: [api.app.status.key()],
  jobs: [api.app.status.key()],
  texts: [api.texts.key(), api.datasets.preview.key()],
  datasets: [api.datasets.key(), api.comparisons.sources.key(), api.stages.list.key()],
  stages: [api.stages.key(), api.app.status.key(), api.datasets.list.key(), api.datasets.get.key()],
  runs: [api.runs.list.key(), api.runs.sparklines.key(), api.replies.desk.key(), api.replies.checklist.key()],
  run: [],
  samples: [api.samples.key()],
  evaluations: [api.comparisons.key(), api.runs.get.key(), api.stages.forgetting.key()],
  models: [api.models.key()],
  replies: [api.replies.key()],
  native: [api.native.key(), api.app.doctor.key(), api.app.examined.key()],
  settings: [api.settings.key(), api.stages.list.key()],
};

/**
 * Follows the host's changes on every line, from its opening on: no change falls between a first look and the stream,
 * which is asked for first. A line that is not the first makes everything fetch anew.
 */
export function followChanges(queries: QueryClient): void {
  // A run may change many times a second; a query that is made stale in mid-flight begins anew, and would never end.
  const makeStale = seldom<readonly unknown[]>(AGAIN_MS, JSON.stringify, (queryKey) => {
    void queries.invalidateQueries({ queryKey });
  });
  let controller = new AbortController();
  connection.subscribe(() => {
    const state = connection.get();
    if (state.kind !== 'open') return;
    controller.abort();
    controller = new AbortController();
    void follow(makeStale, controller.signal);
    if (state.epoch > 1) void queries.invalidateQueries();
  });
}

/** The same query is made stale at most this often. */
const AGAIN_MS = 500;

type MakeStale = (queryKey: readonly unknown[]) => void;

async function follow(makeStale: MakeStale, signal: AbortSignal): Promise<void> {
  try {
    for await (const batch of await client.app.changes(undefined, { signal })) {
      for (const change of batch) apply(makeStale, change);
    }
  } catch {
    // The line is lost: the next one brings its own stream.
  }
}

function apply(makeStale: MakeStale, { topic, id }: Change): void {
  for (const queryKey of stale[topic]) makeStale(queryKey);
  if (topic !== 'runs') return;
  const input = id === null ? {} : { input: { runId: id } };
  makeStale(api.runs.get.key(input));
  makeStale(api.runs.lineage.key(input));
}
