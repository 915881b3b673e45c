import { describe, expect, it } from 'vitest';
import {
  type AdvantageConfig,
  computeAdvantages,
  nanStats,
  roundingMetrics,
} from '../../../main/trainer/advantages/advantages.ts';

const config: AdvantageConfig = {
  num_generations: 2,
  scale_rewards: 'group',
  multi_objective_aggregation: 'sum_then_normalize',
  reward_weights: null,
};

const close = (actual: Float32Array, expected: readonly number[]): void => {
  expect(actual.length).toBe(expected.length);
  expected.forEach((value, i) => {
    expect(actual[i]).toBeCloseTo(value, 5);
  });
};

describe('roundingMetrics', () => {
  const rounded = (rewards: readonly (readonly number[])[], weights: number[] | null = null) =>
    roundingMetrics(
      rewards,
      computeAdvantages(rewards, { ...config, num_generations: 2, reward_weights: weights }),
      weights,
    );

  it('tells groups that float32 makes equal from equal ones', () => {
    expect(rounded([[1e9 + 1, 1e9 + 9, 1, 2]])).toEqual({ reward_rounded: 0.5 });
    expect(
      rounded(
        [
          [1, 2],
          [5, 5],
        ],
        [1, 1e9],
      ),
    ).toEqual({ reward_rounded: 1 });
    // Equal, but for a float64's own rounding.
    expect(rounded([[0.1 + 0.2, 0.3]])).toEqual({});
    expect(rounded([[0.5, 0.5, 0, 1]])).toEqual({});
    expect(rounded([[Number.NaN, 1]])).toEqual({});
  });
});

describe('computeAdvantages', () => {
  it('divides by the Bessel-corrected std of the group plus 1e-4', () => {
    // Group (0, 1): mean 0.5, std √0.5 = 0.70711; 0.5 / 0.70721 = 0.70700. Group (0.2, 0.2): dead.
    const result = computeAdvantages([[0, 1, 0.2, 0.2]], config);
    close(result.advantages, [-0.7070068, 0.7070068, 0, 0]);
    close(result.groupMean, [0.5, 0.2]);
    close(result.groupStd, [Math.SQRT1_2, 0]);
    expect(result.fracRewardZeroStd).toBe(0.5);
  });

  it('divides by the std of the batch, and only centres when asked to scale by nothing', () => {
    // Batch (0, 1, 0, 3): mean 1, squares 1+0+1+4 = 6, std √2 = 1.414214; + 1e-4 = 1.414314.
    const rewards = [[0, 1, 0, 3]];
    close(
      computeAdvantages(rewards, { ...config, scale_rewards: 'batch' }).advantages,
      [-0.3535283, 0.3535283, -1.0605849, 1.0605849],
    );
    close(computeAdvantages(rewards, { ...config, scale_rewards: 'none' }).advantages, [-0.5, 0.5, -1.5, 1.5]);
  });

  it('divides by the mean of the group for MaxRL, without an epsilon', () => {
    const mean = { ...config, num_generations: 4, scale_rewards: 'mean' } as const;
    // One success of four: mean 0.25, so 0.75 / 0.25 = 3 = G − 1 and −0.25 / 0.25 = −1. Three of four: 1/3 and −1.
    const result = computeAdvantages([[1, 0, 0, 0, 1, 1, 0, 1]], mean);
    close(result.advantages, [3, -1, -1, -1, 1 / 3, 1 / 3, -1, 1 / 3]);
    // Partial rewards: mean 0.5.
    close(computeAdvantages([[0.2, 0.4, 0.6, 0.8]], mean).advantages, [-0.6, -0.2, 0.2, 0.6]);
    // Whether a group is dead depends on its std, as always.
    expect(computeAdvantages([[1, 1, 1, 1, 1, 0, 0, 0]], mean).fracRewardZeroStd).toBe(0.5);
  });

  it('gives a group without a success no advantage for MaxRL', () => {
    const mean = { ...config, scale_rewards: 'mean' } as const;
    close(computeAdvantages([[0, 0, 0, 0]], mean).advantages, [0, 0, 0, 0]);
    close(computeAdvantages([[2, Number.NaN]], mean).advantages, [0, 0]);
  });

  it('refuses a negative reward for MaxRL, whose advantages it would make explode', () => {
    const mean = { ...config, scale_rewards: 'mean' } as const;
    // Mean 0.0005: divided by it, they would be -2001 and 2001.
    expect(() => computeAdvantages([[1, 1, -1, 1.001]], mean)).toThrow(/no negative rewards .* got -1:/);
    // The weighted sum counts.
    close(
      computeAdvantages(
        [
          [-1, 0],
          [2, 2],
        ],
        mean,
      ).advantages,
      [-1 / 3, 1 / 3],
    );
    expect(() => computeAdvantages([[1, 0]], { ...mean, reward_weights: [-1] })).toThrow('got -1:');
    expect(() => computeAdvantages([[1, -1]], config)).not.toThrow();
  });

  it('calls all groups dead or none when the std is that of the batch', () => {
    const batch = { ...config, scale_rewards: 'batch' } as const;
    expect(computeAdvantages([[1, 1, 0, 1]], batch).fracRewardZeroStd).toBe(0);
    expect(computeAdvantages([[1, 1, 1, 1]], batch).fracRewardZeroStd).toBe(1);
  });

  it('weights the functions, leaves out those that do not apply, and gives 0 where none does', () => {
    const nan = Number.NaN;
    const result = computeAdvantages(
      [
        [1, nan, nan, 2],
        [1, 1, nan, 0],
      ],
      { ...config, reward_weights: [2, 0.5], scale_rewards: 'none' },
    );
    close(result.rewards.slice(0, 2), [2.5, 0.5]);
    expect(result.rewards[2]).toBeNaN();
    // The second group has one scored row: mean 4, std undefined, so not counted as zero.
    close(result.advantages, [1, -1, 0, 0]);
    expect(result.fracRewardZeroStd).toBe(0);
  });

  it('gives a single scored row no advantage, as its group has no std', () => {
    close(computeAdvantages([[1, Number.NaN]], config).advantages, [0, 0]);
  });

  it('normalises each function by group and then the sum over the batch', () => {
    // (0, 1) and (0, 10) both become ∓0.7070; sums over two functions of a lone group: ∓1.414; over the batch std 2.
    const result = computeAdvantages(
      [
        [0, 1],
        [0, 10],
      ],
      { ...config, multi_objective_aggregation: 'normalize_then_sum' },
    );
    const sum = 0.5 / (Math.SQRT1_2 + 1e-4) + 5 / (10 * Math.SQRT1_2 + 1e-4);
    const expected = sum / (sum * Math.SQRT2 + 1e-4);
    close(result.advantages, [-expected, expected]);
    // What is logged stays the plain weighted sum.
    close(result.rewards, [0, 11]);
  });

  it('keeps a group of equal rewards at exactly 0 whatever their rounding', () => {
    const rewards = Array.from({ length: 7 }, () => 0.1 + 0.2);
    const { advantages, fracRewardZeroStd } = computeAdvantages([rewards], { ...config, num_generations: 7 });
    expect([...advantages]).toEqual([0, 0, 0, 0, 0, 0, 0]);
    expect(fracRewardZeroStd).toBe(1);
  });

  it('rejects split groups, uneven functions and weights of the wrong number', () => {
    expect(() => computeAdvantages([[1, 2, 3]], config)).toThrow('Expected whole groups of 2 completions, got 3 rows');
    expect(() => computeAdvantages([[1, 2], [1]], config)).toThrow('Expected 2 rewards of every function, got 1');
    expect(() => computeAdvantages([[1, 2]], { ...config, reward_weights: [1, 1] })).toThrow(
      'Expected "reward_weights" to have 1 numbers, one per reward function, got 2',
    );
  });
});

describe('nanStats', () => {
  it('ignores NaN and has no std below two values', () => {
    expect(nanStats([1, Number.NaN, 3])).toEqual({ count: 2, mean: 2, std: Math.SQRT2 });
    expect(nanStats([4]).std).toBeNaN();
    expect(nanStats([]).mean).toBeNaN();
  });
});
