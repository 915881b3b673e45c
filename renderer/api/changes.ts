/** Keeps the page up to date: each change that the host reports invalidates the queries that depend on it. */
import type { QueryClient } from '@tanstack/react-query';
import type { Change, Topic } from '../../main/api/contract/index.ts';
import { api, client } from './client.ts';
import { connection } from './connection.ts';
import { outdate } from './outdate.ts';
import { olderRunsKey } from './run-pages.ts';
import { throttleByKey } from './throttle-by-key.ts';

/** The queries that each topic invalidates. */
const stale: { readonly [topic in Topic]: readonly (readonly unknown[])[] } = {
  status: [api.app.status.key()],
  jobs: [api.app.status.key()],
  conversations: [api.chat.list.key()],
  served: [api.models.served.key()],
  texts: [api.texts.key(), api.datasets.preview.key()],
  datasets: [api.datasets.key(), api.tasks.recordsSources.key(), api.comparisons.sources.key(), api.stages.list.key()],
  stages: [api.stages.key(), api.queue.key(), api.app.status.key(), api.datasets.list.key(), api.datasets.get.key()],
  sweeps: [api.sweeps.key(), api.queue.key()],
  runs: [
    api.queue.key(),
    api.sweeps.list.key(),
    api.runs.list.key(),
    api.tasks.sources.key(),
    api.runs.sparklines.key(),
    api.replies.desk.key(),
    api.replies.checklist.key(),
    api.datasets.list.key(),
    api.datasets.get.key(),
  ],
  run: [],
  samples: [api.samples.key(), api.tasks.sources.key()],
  evaluations: [api.comparisons.key(), api.runs.get.key(), api.stages.forgetting.key()],
  models: [api.models.key(), api.stages.key()],
  tasks: [api.tasks.key()],
  replies: [api.replies.key()],
  native: [api.native.key(), api.app.doctor.key(), api.app.examined.key(), api.app.gpuReport.key()],
  engines: [api.engines.list.key(), api.engines.look.key(), api.app.status.key()],
  settings: [api.settings.key(), api.stages.list.key(), api.runs.cost.key(), api.comparisons.key()],
};

/**
 * Subscribes to the host's changes as soon as a connection opens, before any other request, so that no change is missed
 * between a first fetch and the stream. A reconnect invalidates everything.
 */
export function followChanges(queries: QueryClient): void {
  // A run may change many times a second. Invalidating a query in flight restarts it, so it might never finish.
  const invalidate = throttleByKey<readonly unknown[]>(THROTTLE_MS, JSON.stringify, (queryKey) => {
    void outdate(queries, queryKey);
  });
  let controller = new AbortController();
  connection.subscribe(() => {
    const state = connection.get();
    if (state.kind !== 'open') return;
    controller.abort();
    controller = new AbortController();
    void follow(invalidate, controller.signal);
    if (state.epoch > 1) void queries.invalidateQueries();
  });
}

/** The minimum time between two invalidations of the same query. */
const THROTTLE_MS = 500;

type Invalidate = (queryKey: readonly unknown[]) => void;

async function follow(invalidate: Invalidate, signal: AbortSignal): Promise<void> {
  try {
    for await (const batch of await client.app.changes(undefined, { signal })) {
      for (const change of batch) apply(invalidate, change);
    }
  } catch {
    // The connection was lost; the next one opens its own stream.
  }
}

function apply(invalidate: Invalidate, { topic, id }: Change): void {
  for (const queryKey of stale[topic]) invalidate(queryKey);
  if (topic !== 'runs') return;
  invalidate(olderRunsKey(id));
  const input = id === null ? {} : { input: { runId: id } };
  invalidate(api.runs.get.key(input));
  invalidate(api.runs.lineage.key(input));
  invalidate(api.runs.cost.key(input));
  invalidate(api.runs.signal.key(input));
  invalidate(api.runs.stderr.key(input));
}
