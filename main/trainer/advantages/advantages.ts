/**
 * Group-relative advantages: A = (r − mean of the group) / (std + 1e-4), as TRL 1.13 computes them
 * (`_generate_and_score_completions`). Legend: K reward functions, R rows (completions), G completions per group;
 * row i belongs to group ⌊i / G⌋.
 *
 * Sums run in float64 over float32 inputs. TRL sums in float32, where rounding can give a group of equal rewards a
 * tiny spread and an advantage of ±1e-3; here such a group's advantages are exactly 0.
 *
 * `scale_rewards: mean` is MaxRL (Tajwar, Zeng, Zhou et al. 2026, arXiv 2602.02710), which TRL lacks: A = (r − mean) / mean.
 * With rewards of 0 and 1 and K successes its gradient is the mean of ∇ log π over the successes, 0 where K is 0: so a
 * group whose mean is 0 has advantages of 0. Rewards must not be negative: then |A| is at most G − 1, without an epsilon;
 * with both signs the mean can be close to 0 and A is unbounded, so that a negative reward is an error.
 */
import { BraidError, inputError } from '../../errors.ts';
import type { TrainConfig } from '../config/config.ts';

export type AdvantageConfig = Pick<
  TrainConfig,
  'num_generations' | 'scale_rewards' | 'multi_objective_aggregation' | 'reward_weights'
>;

/** Added to the standard deviation when dividing advantages. */
const ADVANTAGE_EPSILON = 1e-4;
/** A standard deviation up to here counts as zero (torch.isclose's absolute tolerance). */
const ZERO_STD = 1e-8;

export interface Advantages {
  /** [R]; 0 if no reward function applies. */
  readonly advantages: Float32Array;
  /** [R] weighted sum of the reward functions; NaN if none applies. */
  readonly rewards: Float32Array;
  /** [R / G] mean and Bessel-corrected std of `rewards`; NaN if a group has too few scored rows. */
  readonly groupMean: Float32Array;
  readonly groupStd: Float32Array;
  /** TRL's `frac_reward_zero_std`: by group, or 0 or 1 if the whole batch shares one std. */
  readonly fracRewardZeroStd: number;
}

/** Groups whose rewards are all equal: their advantages are 0, whatever they are divided by. */
export function deadGroups({ groupStd }: Pick<Advantages, 'groupStd'>): number[] {
  return [...groupStd.keys()].filter((g) => Math.abs(groupStd[g] ?? Number.NaN) <= ZERO_STD);
}

/** Rewards [K][R], NaN where a function does not apply, to one advantage per row. */
export function computeAdvantages(rewards: readonly (readonly number[])[], config: AdvantageConfig): Advantages {
  const rows = rewards[0]?.length ?? 0;
  const groupSize = config.num_generations;
  const weights = rewardWeights(rewards.length, config.reward_weights);
  checkShapes(rewards, rows, groupSize);

  const total = weightedSum(rewards, weights, rows);
  const groups = rows / groupSize;
  const groupMean = new Float32Array(groups);
  const groupStd = new Float32Array(groups);
  for (let g = 0; g < groups; g++) {
    const stats = nanStats(total, g * groupSize, groupSize);
    groupMean[g] = stats.mean;
    groupStd[g] = stats.std;
  }

  const { advantages, stds } =
    config.multi_objective_aggregation === 'normalize_then_sum'
      ? normalizeThenSum(rewards, weights, rows, groupSize)
      : sumThenNormalize(total, rows, groupSize, config.scale_rewards);
  for (let i = 0; i < rows; i++) if (Number.isNaN(advantages[i])) advantages[i] = 0;
  const zero = stds.filter((std) => Math.abs(std) <= ZERO_STD).length;
  return { advantages, rewards: total, groupMean, groupStd, fracRewardZeroStd: zero / stds.length };
}

interface Scaled {
  readonly advantages: Float32Array;
  /** The stds used for scaling: one per group, or one for the batch. */
  readonly stds: readonly number[];
}

function sumThenNormalize(
  rewards: Float32Array,
  rows: number,
  groupSize: number,
  scale: AdvantageConfig['scale_rewards'],
): Scaled {
  if (scale === 'mean') checkNotNegative(rewards);
  const batchStd = nanStats(rewards, 0, rows).std;
  const advantages = new Float32Array(rows);
  const stds: number[] = [];
  for (let start = 0; start < rows; start += groupSize) {
    const { mean, std } = nanStats(rewards, start, groupSize);
    stds.push(scale === 'batch' ? batchStd : std);
    const divisor = divisorOf(scale, { mean, std, batchStd });
    for (let i = start; i < start + groupSize; i++) advantages[i] = (at(rewards, i) - mean) / divisor;
  }
  return { advantages, stds };
}

function checkNotNegative(rewards: Float32Array): void {
  const negative = rewards.find((reward) => reward < 0);
  if (negative === undefined) return;
  throw inputError(
    'NEGATIVE_REWARD',
    `Expected no negative rewards with scale_rewards mean, got ${negative}: a mean of both signs can be close to 0, and advantages explode`,
    'Use scale_rewards group, batch or none, or a reward that is at least 0. Checkpoints up to the last one are safe.',
  );
}

/** What centred rewards (or scores) are divided by. A std is NaN where fewer than two were scored, and so is the quotient. */
export function divisorOf(
  scale: AdvantageConfig['scale_rewards'],
  { mean, std, batchStd }: { readonly mean: number; readonly std: number; readonly batchStd: number },
): number {
  switch (scale) {
    case 'group':
      return std + ADVANTAGE_EPSILON;
    case 'batch':
      return batchStd + ADVANTAGE_EPSILON;
    case 'mean':
      // Nothing succeeded, nothing to learn from.
      return mean <= 0 ? Number.POSITIVE_INFINITY : mean;
    case 'none':
      return 1;
  }
}

/** A difference of rewards, relative to their size, that isn't the rounding of a float64. */
const REAL_DIFFERENCE = 1e-12;

/** `reward_rounded`: the share of groups whose rewards differ by less than float32 can tell apart; absent where none do. */
export function roundingMetrics(
  rewards: readonly (readonly number[])[],
  { groupStd }: Pick<Advantages, 'groupStd'>,
  configured: readonly number[] | null,
): Readonly<Record<string, number>> {
  const weights = rewardWeights(rewards.length, configured);
  const size = (rewards[0]?.length ?? 0) / groupStd.length;
  const totalOf = (row: number): number =>
    rewards.reduce((sum, of, k) => sum + (Number.isNaN(of[row]) ? 0 : at(weights, k) * at(of, row)), 0);
  const rounded = deadGroups({ groupStd }).filter((g) => {
    const totals = Array.from({ length: size }, (_, i) => totalOf(g * size + i));
    const [low, high] = [totals.reduce((a, b) => Math.min(a, b)), totals.reduce((a, b) => Math.max(a, b))];
    return high - low > REAL_DIFFERENCE * Math.max(Math.abs(low), Math.abs(high));
  });
  return rounded.length === 0 ? {} : { reward_rounded: rounded.length / groupStd.length };
}

/** Normalises each function within its group, sums, then standardises over the batch (TRL's GDPO option). */
function normalizeThenSum(
  rewards: readonly (readonly number[])[],
  weights: readonly number[],
  rows: number,
  groupSize: number,
): Scaled {
  const normalized = rewards.map((values) => {
    const column = Float32Array.from(values);
    const out: number[] = [];
    for (let start = 0; start < rows; start += groupSize) {
      const { mean, std } = nanStats(column, start, groupSize);
      for (let i = start; i < start + groupSize; i++) out.push((at(column, i) - mean) / (std + ADVANTAGE_EPSILON));
    }
    return out;
  });
  // A single scored row has no std, so its normalised reward is NaN: TRL lets nansum turn it into 0, and only rows
  // that no function scored stay NaN.
  const sums = weightedSum(normalized, weights, rows);
  for (let i = 0; i < rows; i++) {
    const scored = rewards.some((values) => !Number.isNaN(values[i]));
    if (scored && Number.isNaN(sums[i])) sums[i] = 0;
  }
  const { mean, std } = nanStats(sums, 0, rows);
  return { advantages: sums.map((value) => (value - mean) / (std + ADVANTAGE_EPSILON)), stds: [std] };
}

/** Σ_k w_k·r_k over the functions that apply; NaN where none does. */
function weightedSum(
  rewards: readonly (readonly number[])[],
  weights: readonly number[],
  rows: number,
): Float32Array<ArrayBuffer> {
  const out = new Float32Array(rows);
  for (let i = 0; i < rows; i++) {
    let sum = 0;
    let scored = false;
    for (let k = 0; k < rewards.length; k++) {
      const reward = Math.fround(at(rewards[k] ?? [], i));
      if (Number.isNaN(reward)) continue;
      scored = true;
      sum += Math.fround(reward * Math.fround(at(weights, k)));
    }
    out[i] = scored ? sum : Number.NaN;
  }
  return out;
}

export interface Stats {
  readonly count: number;
  readonly mean: number;
  readonly std: number;
}

/** Mean and Bessel-corrected std of the values that are not NaN; NaN where undefined (TRL's `nanstd`). */
export function nanStats(values: ArrayLike<number>, start = 0, length = values.length): Stats {
  let count = 0;
  let sum = 0;
  for (let i = start; i < start + length; i++) {
    const value = at(values, i);
    if (Number.isNaN(value)) continue;
    count++;
    sum += value;
  }
  const mean = count === 0 ? Number.NaN : sum / count;
  if (count < 2) return { count, mean, std: Number.NaN };
  let squares = 0;
  for (let i = start; i < start + length; i++) {
    const value = at(values, i);
    if (!Number.isNaN(value)) squares += (value - mean) ** 2;
  }
  return { count, mean, std: Math.sqrt(squares / (count - 1)) };
}

/** The weights in force: the configured ones, or 1 for each function. */
function rewardWeights(functions: number, configured: readonly number[] | null): readonly number[] {
  if (configured === null) return Array.from({ length: functions }, () => 1);
  if (configured.length === functions) return configured;
  throw new BraidError(
    'BAD_REWARD_WEIGHTS',
    `Expected "reward_weights" to have ${functions} numbers, one per reward function, got ${configured.length}`,
    {
      kind: 'input',
      remedy: 'Give one weight per reward function, or leave reward_weights out: the task has its own.',
    },
  );
}

function checkShapes(rewards: readonly (readonly number[])[], rows: number, groupSize: number): void {
  const uneven = rewards.find((values) => values.length !== rows);
  if (uneven !== undefined)
    throw new BraidError('BAD_SHAPE', `Expected ${rows} rewards of every function, got ${uneven.length}`);
  if (rows === 0 || rows % groupSize !== 0)
    throw new BraidError('BAD_SHAPE', `Expected whole groups of ${groupSize} completions, got ${rows} rows`);
}

function at(values: ArrayLike<number>, i: number): number {
  return values[i] ?? Number.NaN;
}
