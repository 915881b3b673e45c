/** An arm of the study against the one that has everything else in common with it. */
import type { Interval } from '../../main/text/intervals.ts';
import { tInterval } from '../../main/text/student-t.ts';
import type { StudyRun } from './results.ts';

export const REACHED = 0.95;

export interface Comparison {
  /** Seeds that both have. */
  readonly seeds: number;
  /** Of those, in how many each reached the score. */
  readonly reached: readonly [own: number, base: number];
  /** Seconds until then over the base's, where both reached it; a geometric mean. Null: fewer than two seeds. */
  readonly ratio: Interval | null;
  /** The last score less the base's; null: fewer than two seeds. */
  readonly difference: Interval | null;
}

/** When a run first had the score that counts; null: never. */
export function reachedAt({ heldOut }: Pick<StudyRun, 'heldOut'>, score = REACHED) {
  return heldOut.find(({ mean }) => mean >= score) ?? null;
}

/** The last score measured within so many seconds of steps. */
export function scoreWithin({ heldOut }: Pick<StudyRun, 'heldOut'>, seconds: number): number | null {
  return heldOut.findLast((point) => point.seconds <= seconds)?.mean ?? null;
}

export function lastScore({ heldOut }: Pick<StudyRun, 'heldOut'>): number {
  return heldOut.at(-1)?.mean ?? Number.NaN;
}

export function compare(runs: readonly StudyRun[], base: readonly StudyRun[]): Comparison {
  const pairs = runs.flatMap((own) => {
    const other = base.find(({ seed }) => seed === own.seed);
    return other === undefined ? [] : [{ own, other, ownTime: reachedAt(own), otherTime: reachedAt(other) }];
  });
  const ratios = pairs.flatMap(({ ownTime, otherTime }) =>
    ownTime === null || otherTime === null ? [] : [Math.log(ownTime.seconds / otherTime.seconds)],
  );
  const logs = tInterval(ratios);
  return {
    seeds: pairs.length,
    reached: [
      pairs.filter(({ ownTime }) => ownTime !== null).length,
      pairs.filter(({ otherTime }) => otherTime !== null).length,
    ],
    ratio: logs && { mean: Math.exp(logs.mean), low: Math.exp(logs.low), high: Math.exp(logs.high) },
    difference: tInterval(pairs.map(({ own, other }) => lastScore(own) - lastScore(other))),
  };
}

/** Whether neither the time nor the last score nor how often the score was reached shows a difference. */
export function didNothing({ reached: [own, base], ratio, difference }: Comparison): boolean {
  if (difference === null || own !== base) return false;
  // Where neither ever reaches the score, there is no time to compare.
  const sameTime = ratio === null ? own === 0 : ratio.low <= 1 && 1 <= ratio.high;
  return sameTime && difference.low <= 0 && 0 <= difference.high;
}
