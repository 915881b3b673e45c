/** What screens show first is fetched before they are opened, one after another: each needs what came before it. */
import type { QueryClient } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import { byReward } from '../samples/prompts.ts';

/** Kept for as long as the page is open: it is little, and a change of the host makes it stale all the same. */
const kept = { gcTime: Number.POSITIVE_INFINITY };

/** Fills the cache while nothing else is to be done. */
export function fetchAheadWhenIdle(queries: QueryClient): void {
  // Whoever opens the screen is told of a failure.
  requestIdleCallback(() => void fetchAhead(queries).catch(() => undefined));
}

async function fetchAhead(queries: QueryClient): Promise<void> {
  await fetchSamples(queries);
  await queries.fetchQuery({ ...api.samples.components.queryOptions(), ...kept });
  await queries.fetchQuery({ ...api.settings.fields.queryOptions(), ...kept });
  await queries.fetchQuery({ ...api.settings.get.queryOptions(), ...kept });
  await queries.fetchQuery({ ...api.datasets.templates.queryOptions(), ...kept });
  await queries.fetchQuery({ ...api.models.list.queryOptions(), ...kept });
}

/** The newest step that completions were kept of, with its best and its worst. */
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
