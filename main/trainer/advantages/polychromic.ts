/**
 * Diversity in the objective, as pure functions of texts and rewards. D of a set is `setDiversity` (main/text).
 *
 * Polychromic GRPO (after Hamid, Orney, Xu, Finn and Sadigh 2025, arXiv 2509.25424). Of each group of G completions,
 * M random sets of n, no two alike; f(S) = mean reward of S × D(S); the set's advantage is f(S) − mean of f over the group's sets,
 * shared by all its members. A completion's advantage is the mean over the sets that contain it, 0 if there are none,
 * divided by the standard deviation of f as `scale_rewards` says. Ours: the choice of sets, and the mean over a completion's
 * sets (the paper trains on each set in turn, which sums them).
 *
 * Diversity credits, for polychromic SFT. E[D] under the policy has the score-function gradient
 * E[Σ_i (D − b_i) ∇ log π(y_i)] for any b_i that doesn't depend on y_i. D is a mean over pairs, and pairs without
 * y_i don't depend on it, so they can be part of b_i; so can the mean of those pairs, as an estimate of the average of
 * y_i's own pairs. What remains is the credit:
 *   (D − b_i) = 2/G · ( mean over j of d(y_i, y_j) − mean over j < k, both not i, of d(y_j, y_k) )
 * Unbiased, with far less noise than D itself. For G = 2 there are no other pairs, and b_i is 0.
 */
import { inputError } from '../../errors.ts';
import { hashString, randomStream, shuffled } from '../../random.ts';
import { distance, type NgramSets, ngramSets, setDiversity } from '../../text/diversity.ts';
import type { TrainConfig } from '../config/config.ts';
import { divisorOf, nanStats } from './advantages.ts';

export type SetConfig = Pick<
  TrainConfig,
  'num_generations' | 'polychromic_set_size' | 'polychromic_sets' | 'scale_rewards' | 'seed'
>;

export interface SetAdvantages {
  /** [R] */
  readonly advantages: Float32Array;
  /** Mean f and mean D over all sets of the generation. */
  readonly meanScore: number;
  readonly meanDiversity: number;
}

const SET_STREAM = hashString('polychromic-sets');

/** One set of a group: its members' indices in the group, its score, its diversity. */
export interface ScoredSet {
  readonly members: readonly number[];
  readonly score: number;
  readonly diversity: number;
}

/** Advantages of R completions from R rewards (NaN: not scored, counts as 0) and R texts; rows as in `Advantages`. */
export function setAdvantages(
  rewards: ArrayLike<number>,
  texts: readonly string[],
  generation: number,
  config: SetConfig,
): SetAdvantages {
  const size = config.num_generations;
  const groups = Array.from({ length: texts.length / size }, (_, g) => {
    const own = Array.from({ length: size }, (_, i) => rewards[g * size + i] ?? Number.NaN);
    const grams = texts.slice(g * size, (g + 1) * size).map(ngramSets);
    return drawSets(size, config, generation, g).map((members) => scoreSet(members, own, grams));
  });
  const all = groups.flat();
  const batchStd = nanStats(all.map(({ score }) => score)).std;
  const advantages = Float32Array.from(
    groups.flatMap((sets) => shareOut(sets, size, setDivisor(sets, batchStd, config.scale_rewards))),
  );
  return {
    advantages,
    meanScore: nanStats(all.map(({ score }) => score)).mean,
    meanDiversity: nanStats(all.map(({ diversity }) => diversity)).mean,
  };
}

/**
 * The sets of one group, determined by seed, generation and group: all that there are where they are no more than
 * `polychromic_sets`, else as many different ones.
 */
export function drawSets(
  size: number,
  config: Omit<SetConfig, 'scale_rewards' | 'num_generations'>,
  generation: number,
  group: number,
): number[][] {
  const { polychromic_set_size: chosen, polychromic_sets: wanted, seed } = config;
  const members = Array.from({ length: size }, (_, i) => i);
  const stream = randomStream(seed, SET_STREAM, generation, group);
  const count = binomial(size, chosen);
  if (count <= wanted) return combinations(members, chosen);
  // Drawing again what was drawn already costs at most every second draw.
  if (count <= 2 * wanted) return shuffled(combinations(members, chosen), stream).slice(0, wanted);
  const sets = new Map<string, number[]>();
  while (sets.size < wanted) {
    const set = shuffled(members, stream)
      .slice(0, chosen)
      .sort((a, b) => a - b);
    sets.set(set.join(), set);
  }
  return [...sets.values()];
}

/** How many sets of k there are among n. */
function binomial(n: number, k: number): number {
  let count = 1;
  for (let i = 1; i <= k; i++) count = (count * (n - k + i)) / i;
  return Math.round(count);
}

/** All sets of k of the items, in order. */
function combinations(items: readonly number[], k: number): number[][] {
  if (k === 0) return [[]];
  return items.flatMap((item, i) => combinations(items.slice(i + 1), k - 1).map((rest) => [item, ...rest]));
}

/** f(S) = mean reward × D. */
export function scoreSet(
  members: readonly number[],
  rewards: readonly number[],
  grams: readonly NgramSets[],
): ScoredSet {
  const of = (i: number): number => {
    const reward = rewards[i] ?? 0;
    return Number.isNaN(reward) ? 0 : reward;
  };
  const mean = members.reduce((sum, i) => sum + of(i), 0) / members.length;
  const diversity = setDiversity(members.map((i) => grams[i] ?? []));
  return { members, score: mean * diversity, diversity };
}

function setDivisor(sets: readonly ScoredSet[], batchStd: number, scale: SetConfig['scale_rewards']): number {
  const { mean, std } = nanStats(sets.map(({ score }) => score));
  // One set alone has no std.
  const known = (value: number): number => (Number.isNaN(value) ? 0 : value);
  return divisorOf(scale, { mean, std: known(std), batchStd: known(batchStd) });
}

/** Each member's mean over its sets of (f − mean f) / divisor. */
export function shareOut(sets: readonly ScoredSet[], size: number, divisor: number): number[] {
  const baseline = sets.reduce((sum, { score }) => sum + score, 0) / sets.length;
  return Array.from({ length: size }, (_, i) => {
    const own = sets.filter(({ members }) => members.includes(i));
    if (own.length === 0) return 0;
    return own.reduce((sum, { score }) => sum + (score - baseline) / divisor, 0) / own.length;
  });
}

/** D of the texts of one prompt and each text's credit: the factor of ∇ log π(y_i) in the gradient of E[D]. */
export function diversityCredits(texts: readonly string[]): {
  readonly diversity: number;
  readonly credits: readonly number[];
} {
  const size = texts.length;
  if (size < 2) throw inputError('BAD_CONFIG', `Expected at least 2 generations to compare, got ${size}`);
  const grams = texts.map(ngramSets);
  const pairs = grams.map((a) => grams.map((b) => distance(a, b)));
  const own = pairs.map((row) => row.reduce((sum, d) => sum + d, 0));
  const total = own.reduce((sum, d) => sum + d, 0) / 2;
  const otherPairs = ((size - 1) * (size - 2)) / 2;
  const credits = own.map((sum) => {
    const others = otherPairs === 0 ? 0 : (total - sum) / otherPairs;
    return (2 / size) * (sum / (size - 1) - others);
  });
  return { diversity: total / ((size * (size - 1)) / 2), credits };
}
