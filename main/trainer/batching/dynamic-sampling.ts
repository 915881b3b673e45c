/**
 * Dynamic sampling (DAPO, Yu et al. 2025, arXiv 2503.14476, section 3.2): groups whose rewards are all equal give no
 * gradient, so other prompts are sampled in their place. The paper samples until the batch is full; here at most
 * `dynamic_sampling` rounds, each for the groups that are still dead, so that a stage that is too hard or learned still
 * ends its steps. P groups of G completions.
 */

import { type Advantages, deadGroups, nanStats } from '../advantages/advantages.ts';
import type { Metrics } from '../protocol/trainer-events.ts';
import type { Rollouts } from './generation.ts';

/** Rollouts with the groups at `places` replaced by the groups of `others`, in order. */
export function replaceGroups(
  rollouts: Rollouts,
  places: readonly number[],
  others: Rollouts,
  groupSize: number,
): Rollouts {
  return {
    prompts: replaceRows(rollouts.prompts, places, others.prompts, 1),
    completions: replaceRows(rollouts.completions, places, others.completions, groupSize),
    texts: replaceRows(rollouts.texts, places, others.texts, groupSize),
    failures: replaceRows(rollouts.failures, places, others.failures, groupSize),
    rewards: rollouts.rewards.map((rows, k) => replaceRows(rows, places, others.rewards[k] ?? [], groupSize)),
  };
}

/** A list of rows with those of the groups at `places` replaced by `others`, group by group. */
export function replaceRows<T>(
  rows: readonly T[],
  places: readonly number[],
  others: readonly T[],
  groupSize: number,
): T[] {
  const out = [...rows];
  places.forEach((place, i) => {
    out.splice(place * groupSize, groupSize, ...others.slice(i * groupSize, (i + 1) * groupSize));
  });
  return out;
}

/**
 * Groups sampled in addition, groups that are still dead, and the mean of every reward, which is that of the
 * prompts as they come: `reward` is that of the groups that were kept. `sampled`: the rewards of each round.
 */
export function dynamicSamplingMetrics(
  sampled: readonly ArrayLike<number>[],
  kept: Advantages,
  groupSize: number,
): Metrics {
  const rewards = sampled.flatMap((round) => Array.from(round));
  return {
    'dynamic_sampling/resampled': rewards.length / groupSize - kept.groupStd.length,
    'dynamic_sampling/dead': deadGroups(kept).length,
    'dynamic_sampling/reward': nanStats(rewards).mean,
  };
}
