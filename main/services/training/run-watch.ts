/** Follows a run live: first its state, then updates; complete after a resume or a reload. */
import type { Store } from '../../store/index.ts';
import type { StepMetrics } from '../../store/metrics.ts';
import { asEnded, type RunSummary, runSummary } from '../runs/history.ts';
import { runVerdict } from '../runs/verdict/run-verdict.ts';
import type { Verdict } from '../runs/verdict/verdict.ts';
import type { Changes } from '../workspace/changes.ts';
import type { LiveRuns } from './live-runs.ts';
import type { LiveStatus } from './live-status.ts';

/** The state of a run. */
export interface RunStanding {
  readonly run: RunSummary;
  readonly live: LiveStatus | null;
  /** The current verdict. */
  readonly verdict: Verdict;
}

export interface RunNews extends RunStanding {
  /** Steps after the last one sent, each once and in order. */
  readonly points: readonly StepMetrics[];
  /** Set when the run was rewound: later steps sent before are invalid. */
  readonly rewoundTo: number | null;
}

export interface WatchOptions {
  readonly runId: number;
  /** The last step that the watcher has. */
  readonly afterStep: number;
  readonly everyMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Maximum steps in one batch: a long history is sent in parts. */
const BATCH = 2000;

/** The current state of a run. */
export function runStanding(store: Store, live: Pick<LiveRuns, 'get' | 'lost'>, runId: number): RunStanding {
  const run = asEnded(runSummary(store, runId), live.lost);
  return { run, live: live.get(runId), verdict: runVerdict(store, runId) };
}

/** Updates of a run until the signal aborts; the first one immediately. */
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
  // Subscribes before the first read, so that nothing is missed.
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
