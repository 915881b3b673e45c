/** A run followed live: first where it stands, then what came since, whole after a resume or a reload. */
import type { Store } from '../store/index.ts';
import type { StepMetrics } from '../store/metrics.ts';
import type { Changes } from './changes.ts';
import type { LiveRuns } from './live-runs.ts';
import type { LiveStatus } from './live-status.ts';
import { asEnded, type RunSummary, runSummary } from './run-history.ts';
import { runVerdict } from './run-verdict.ts';
import type { Verdict } from './verdict.ts';

/** Where a run stands. */
export interface RunStanding {
  readonly run: RunSummary;
  readonly live: LiveStatus | null;
  /** On the signal, as it stands. */
  readonly verdict: Verdict;
}

export interface RunNews extends RunStanding {
  /** Steps after the last that was told, each once and in order. */
  readonly points: readonly StepMetrics[];
  /** Set when the run was taken back: what was told of later steps no longer holds. */
  readonly rewoundTo: number | null;
}

export interface WatchOptions {
  readonly runId: number;
  /** The last step that the watcher has. */
  readonly afterStep: number;
  readonly everyMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Most steps in one batch: a long run's past comes in parts. */
const BATCH = 2000;

/** Where a run stands now. */
export function runStanding(store: Store, live: Pick<LiveRuns, 'get' | 'lost'>, runId: number): RunStanding {
  const run = asEnded(runSummary(store, runId), live.lost);
  return { run, live: live.get(runId), verdict: runVerdict(store, runId) };
}

/** News of a run until the signal aborts; the first at once. */
export async function* watchRun(
  store: Store,
  live: Pick<LiveRuns, 'get' | 'lost'>,
  changes: Pick<Changes, 'batches'>,
  { runId, afterStep, everyMs = 200, signal }: WatchOptions,
): AsyncGenerator<RunNews> {
  let last = afterStep;
  function* news(): Generator<RunNews> {
    for (;;) {
      const standing = runStanding(store, live, runId);
      const { run } = standing;
      const rewoundTo = run.step < last ? run.step : null;
      last = Math.min(last, run.step);
      const points = store.metrics.after(runId, last, BATCH);
      last = points.at(-1)?.step ?? last;
      yield { ...standing, points, rewoundTo };
      if (points.length < BATCH) return;
    }
  }
  // Listening begins before the first look: nothing falls between.
  const batches = changes.batches(everyMs, signal);
  try {
    yield* news();
    for await (const batch of batches) {
      if (batch.some(({ topic, id }) => topic === 'run' && id === runId)) yield* news();
    }
  } finally {
    await batches.return(undefined);
  }
}
