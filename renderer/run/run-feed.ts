/** What a page knows of a run that it follows: the newest news, and the steps that came since its charts were read. Pure. */
import type { LiveStatus } from '../../main/services/live-status.ts';
import type { RunSummary } from '../../main/services/run-history.ts';
import type { RunNews, RunStanding } from '../../main/services/run-watch.ts';
import type { Verdict } from '../../main/services/verdict.ts';
import type { StepMetrics } from '../../main/store/metrics.ts';

export interface RunFeed {
  readonly run: RunSummary;
  readonly live: LiveStatus | null;
  readonly verdict: Verdict;
  /** The steps told since the page opened, in order. */
  readonly tail: readonly StepMetrics[];
  /** Counts up when charts should be read anew: the run was taken back, or the tail has grown long. */
  readonly generation: number;
}

/** So many steps are drawn one by one before the charts are read anew in stretches. */
const FRESH = 300;
/** Steps that are kept: more than enough for charts that are still being read. */
const KEPT = 4000;

/** The feed of a run that stands so. */
export function openFeed(standing: RunStanding): RunFeed {
  return { ...standing, tail: [], generation: 0 };
}

/** The feed after some news; the first of all opens it. */
export function takeNews(before: RunFeed | null, { run, live, verdict, points, rewoundTo }: RunNews): RunFeed {
  if (before === null) return { run, live, verdict, tail: points, generation: 0 };
  const kept = rewoundTo === null ? before.tail : before.tail.filter(({ step }) => step <= rewoundTo);
  const last = kept.at(-1)?.step ?? 0;
  const tail = points.length === 0 ? kept : [...kept, ...points.filter(({ step }) => step > last)].slice(-KEPT);
  const grown = Math.floor(tail.length / FRESH) > Math.floor(kept.length / FRESH);
  const generation = before.generation + (rewoundTo !== null || grown ? 1 : 0);
  return { run, live, verdict, tail, generation };
}
