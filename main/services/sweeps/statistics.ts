/** What seeds say about settings: intervals, the leader's lead, and whether that could be chance. Pure. */
import { type Interval, meanOf } from '../../text/intervals.ts';
import { passAtK } from '../../text/pass-at-k.ts';
import { holm } from '../../text/significance.ts';
import { pairedTest, tInterval, welchTest } from '../../text/student-t.ts';

/** Scores of one setting by seed. */
export type SeedScores = ReadonlyMap<number, number>;

/** A setting over its seeds. */
export interface SettingScore {
  readonly n: number;
  /** null: no seed has a score. */
  readonly mean: number | null;
  /** 95% t-interval of the mean; null with fewer than two seeds. */
  readonly interval: Interval | null;
}

/** How far the leader is ahead of another setting. */
export interface Lead {
  /** Leader less other, with its 95% interval. */
  readonly difference: Interval;
  /** Over seeds that both have; otherwise Welch's test on all. */
  readonly paired: boolean;
  readonly p: number;
  /** By Holm's method over all other settings. */
  readonly pCorrected: number;
  readonly significant: boolean;
}

/** As in comparisons of models. */
const LEVEL = 0.05;

/** Mean and interval over the seeds that have a score. */
export function settingScore(scores: SeedScores): SettingScore {
  const values = [...scores.values()];
  return { n: values.length, mean: values.length === 0 ? null : meanOf(values), interval: tInterval(values) };
}

/** The index of the highest mean; null: no setting has a score. */
export function leaderOf(settings: readonly SeedScores[]): number | null {
  const means = settings.map((scores) => settingScore(scores).mean ?? Number.NEGATIVE_INFINITY);
  const best = Math.max(...means);
  return settings.length === 0 || best === Number.NEGATIVE_INFINITY ? null : means.indexOf(best);
}

/** The leader and another setting at the same number of steps. */
export interface Rivals {
  readonly leader: SeedScores;
  readonly other: SeedScores;
}

/** The leader against every other setting: paired over common seeds where two or more are. Null where none can be tested. */
export function leads(rivals: readonly Rivals[]): readonly (Lead | null)[] {
  const tests = rivals.map(({ leader, other }) => {
    const common = [...leader.keys()].filter((seed) => other.has(seed));
    const of = (scores: SeedScores): number[] => common.map((seed) => scores.get(seed) ?? Number.NaN);
    const paired = common.length >= 2;
    const test = paired ? pairedTest(of(leader), of(other)) : welchTest([...leader.values()], [...other.values()]);
    return test === null ? null : { ...test, paired };
  });
  const corrected = holm(tests.flatMap((test) => test?.p ?? []));
  let next = 0;
  return tests.map((test) => {
    if (test === null) return null;
    const pCorrected = corrected[next++] ?? 1;
    return { ...test, pCorrected, significant: pCorrected < LEVEL && test.difference.mean > 0 };
  });
}

/** Better than every other, each time significantly: the highest mean alone could be chance. */
export function isClearlyBest(all: readonly (Lead | null)[]): boolean {
  return all.length > 0 && all.every((lead) => lead?.significant === true);
}

export interface PassRate {
  readonly k: number;
  readonly rate: number;
}

/**
 * pass@k over seeds: the chance that at least one of k runs solves a record, averaged over the records that all seeds
 * were evaluated on. `passed` has one map of records a seed.
 */
export function passOverSeeds(passed: readonly ReadonlyMap<string, boolean>[]): readonly PassRate[] {
  const [first, ...others] = passed;
  if (first === undefined || others.length === 0) return [];
  const records = [...first.keys()].filter((id) => others.every((seed) => seed.has(id)));
  if (records.length === 0) return [];
  const n = passed.length;
  const sizes = [...new Set([1, 2, 4, 8, 16, 32, n])].filter((k) => k <= n).sort((a, b) => a - b);
  return sizes.map((k) => ({
    k,
    rate: meanOf(records.map((id) => passAtK(n, passed.filter((seed) => seed.get(id) === true).length, k))),
  }));
}
