/**
 * PODS (policy optimization with down-sampling; Xu, Savani, Fang and Kolter 2025, arXiv 2504.13818): of the n
 * completions sampled of each prompt, those m are trained on whose rewards have the largest variance. Sampling is the
 * cheap part, as it needs no activations. Advantages are those of the subset: mean and std of its own rewards.
 *
 * Maximum variance, exactly, in O(n log n) (the paper's theorem): of all subsets of m, one with the largest variance has
 * the k highest and the m − k lowest rewards, for some k from 0 to m; after sorting, running sums give the variance for
 * each k.
 */

import { nanStats } from '../advantages/advantages.ts';
import type { Metrics } from '../protocol/trainer-events.ts';
import type { Rollouts } from './generation.ts';

/** Variances that differ by less than this share of the largest are equal but for rounding. */
const ROUNDING = 1e-12;

/**
 * The indices, in ascending order, of the `size` rewards with the largest variance. Where several subsets have it, the
 * one with the most equal numbers of high and low rewards; unscored ones (NaN) only where there aren't enough others.
 */
export function maxVarianceSubset(rewards: readonly number[], size: number): number[] {
  const ascending = (indices: number[]): number[] => indices.sort((a, b) => a - b);
  const scored = [...rewards.keys()].filter((i) => !Number.isNaN(rewards[i]));
  if (scored.length <= size) {
    const unscored = [...rewards.keys()].filter((i) => Number.isNaN(rewards[i]));
    return ascending([...scored, ...unscored.slice(0, size - scored.length)]);
  }
  // Around their mean, or the squares of large rewards would hide small differences.
  const { mean } = nanStats(rewards);
  const of = (i: number): number => (rewards[i] ?? Number.NaN) - mean;
  const sorted = scored.toSorted((a, b) => of(a) - of(b));
  const lowest = runningSums(sorted.map(of));
  const highest = runningSums(sorted.toReversed().map(of));
  const variance = (k: number): number => {
    const [low, high] = [lowest[size - k], highest[k]];
    const sum = (low?.sum ?? 0) + (high?.sum ?? 0);
    return ((low?.squares ?? 0) + (high?.squares ?? 0)) / size - (sum / size) ** 2;
  };
  const counts = Array.from({ length: size + 1 }, (_, k) => k).sort(
    (a, b) => Math.abs(a - size / 2) - Math.abs(b - size / 2) || a - b,
  );
  const most = counts.reduce((best, k) => (variance(k) > variance(best) * (1 + ROUNDING) ? k : best));
  return ascending([...sorted.slice(0, size - most), ...sorted.slice(sorted.length - most)]);
}

/** Sums of the first 0, 1, 2 … values and of their squares. */
function runningSums(values: readonly number[]) {
  const sums = [{ sum: 0, squares: 0 }];
  for (const value of values) {
    const { sum, squares } = sums.at(-1) ?? { sum: 0, squares: 0 };
    sums.push({ sum: sum + value, squares: squares + value ** 2 });
  }
  return sums;
}

/** The rows of each group of `groupSize` that are trained on, from the rewards of all rows. */
export function trainedRows(rewards: ArrayLike<number>, groupSize: number, size: number): number[] {
  const all = Array.from(rewards);
  return Array.from({ length: all.length / groupSize }, (_, g) => g * groupSize).flatMap((first) =>
    maxVarianceSubset(all.slice(first, first + groupSize), size).map((i) => first + i),
  );
}

/** Rollouts with these rows only, as many of each group. */
export function keepRows(rollouts: Rollouts, rows: readonly number[]): Rollouts {
  const { prompts, completions, texts, failures, rewards } = rollouts;
  const kept = <T>(values: readonly T[]): T[] => rows.flatMap((row) => values.slice(row, row + 1));
  return {
    prompts,
    completions: kept(completions),
    texts: kept(texts),
    failures: kept(failures),
    rewards: rewards.map(kept),
  };
}

/** Mean over groups of the std of all rewards, and of those that are trained on. */
export function downSamplingMetrics(sampledStd: ArrayLike<number>, trainedStd: ArrayLike<number>): Metrics {
  return { 'pods/sampled_std': nanStats(sampledStd).mean, 'pods/trained_std': nanStats(trainedStd).mean };
}
