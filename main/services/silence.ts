/** When a trainer that says nothing is worth a word: long before it is taken for hung and ended. Pure. */
import type { LiveStatus } from './live-status.ts';

/** Signs of life come every few seconds; a busy machine or a large checkpoint may hold some of them back. */
export const SHORTEST_SILENCE_MS = 30_000;
/** Within a step it may be silent, but no longer than the step takes. */
const STEPS = 3;

/** The silence to tell of, in seconds; null: it is no longer than this run's work may be silent. */
export function silenceToTell(
  { state, secondsPerStep }: Pick<LiveStatus, 'state' | 'secondsPerStep'>,
  quietMs: number,
  shortestMs = SHORTEST_SILENCE_MS,
): number | null {
  // Loading a model or ending has no beat; before the first estimate nobody knows how long its steps are.
  if (state === 'starting' || state === 'ending' || secondsPerStep === null) return null;
  return quietMs < Math.max(shortestMs, STEPS * secondsPerStep * 1000) ? null : Math.round(quietMs / 1000);
}
