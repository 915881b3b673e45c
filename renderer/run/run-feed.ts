/** The run page's live state: the latest update, and the steps that arrived since the charts were read. Pure. */
import type {
  LiveStatus,
  RunNews,
  RunStanding,
  RunSummary,
  StepMetrics,
  Verdict,
} from '../../main/api/contract/index.ts';

export interface RunFeed {
  readonly run: RunSummary;
  readonly live: LiveStatus | null;
  readonly verdict: Verdict;
  /** The steps that arrived since the page opened, in order. */
  readonly tail: readonly StepMetrics[];
  /** Incremented when charts must be reread: the run was rolled back, or the tail has grown long. */
  readonly generation: number;
}

/** Steps drawn individually before the charts are reread in buckets. */
const FRESH = 300;
/** Steps kept: more than enough for charts that are still being read. */
const KEPT = 4000;

/** The feed of a run with this status. */
export function openFeed(standing: RunStanding): RunFeed {
  return { ...standing, tail: [], generation: 0 };
}

/** The feed after an update; the first update opens it. */
export function applyUpdate(before: RunFeed | null, { run, live, verdict, points, rewoundTo }: RunNews): RunFeed {
  if (before === null) return { run, live, verdict, tail: points, generation: 0 };
  const kept = rewoundTo === null ? before.tail : before.tail.filter(({ step }) => step <= rewoundTo);
  const last = kept.at(-1)?.step ?? 0;
  const tail = points.length === 0 ? kept : [...kept, ...points.filter(({ step }) => step > last)].slice(-KEPT);
  const grown = Math.floor((tail.at(-1)?.step ?? 0) / FRESH) > Math.floor(last / FRESH);
  const generation = before.generation + (rewoundTo !== null || grown ? 1 : 0);
  return { run, live, verdict, tail, generation };
}

/** Whether nothing more is to come unless it is resumed: it has no process, here or elsewhere. */
export function hasEnded({ run: { state }, live }: Pick<RunFeed, 'run' | 'live'>): boolean {
  return live === null && state !== 'running' && state !== 'paused';
}
