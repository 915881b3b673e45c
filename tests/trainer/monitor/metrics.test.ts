import { describe, expect, it } from 'vitest';
import { type AdvantageConfig, computeAdvantages } from '../../../main/trainer/advantages/advantages.ts';
import {
  completionMetrics,
  diversityMetrics,
  generationTokens,
  groupMetrics,
  groupOutcomes,
  rewardMetrics,
  StepAccumulator,
} from '../../../main/trainer/monitor/metrics.ts';

const config: AdvantageConfig = {
  num_generations: 2,
  scale_rewards: 'group',
  multi_objective_aggregation: 'sum_then_normalize',
  reward_weights: [1, 2],
};

describe('rewardMetrics', () => {
  it('gives mean and std of each function over the rows it applies to, and of the weighted sum over the batch', () => {
    const rewards = [
      [0, 1, 1, 1],
      [1, Number.NaN, 0, 0],
    ];
    const metrics = rewardMetrics(['alignment', 'length'], rewards, computeAdvantages(rewards, config));
    // Sums: 2, 1, 1, 1.
    expect(metrics['rewards/alignment/mean']).toBe(0.75);
    expect(metrics['rewards/alignment/std']).toBeCloseTo(0.5, 12);
    expect(metrics['rewards/length/mean']).toBeCloseTo(1 / 3, 12);
    expect(metrics['rewards/length/std']).toBeCloseTo(Math.sqrt(1 / 3), 12);
    expect(metrics.reward).toBe(1.25);
    expect(metrics.reward_std).toBeCloseTo(0.5, 12);
    expect(metrics.frac_reward_zero_std).toBe(0.5);
  });
});

describe('groupMetrics', () => {
  it('distinguishes dead groups that are solved from the others', () => {
    const rewards = [[1, 1, 0.3, 0.3, 0, 1, 1, 0.99]];
    const result = computeAdvantages(rewards, { ...config, reward_weights: null, scale_rewards: 'batch' });
    const prompts = ['a', 'b', 'c', 'd'].map((id) => ({ record: { id, prompt: '' } }));
    const groups = groupOutcomes(prompts, result, 1);
    expect(groups.map(({ recordId, outcome }) => `${recordId} ${outcome}`)).toEqual([
      'a solved',
      'b dead',
      'c teaches',
      'd teaches',
    ]);
    expect(groups[1]?.reward).toBeCloseTo(0.3, 6);
    const spread = { 'groups/spread': expect.closeTo((Math.SQRT1_2 * 1.01) / 4, 6) };
    expect(groupMetrics(groups, result)).toEqual({ 'groups/dead': 0.5, 'groups/solved': 0.25, ...spread });
    const unknown = groupOutcomes(prompts, result, null);
    expect(groupMetrics(unknown, result)).toEqual({ 'groups/dead': 0.5, 'groups/solved': 0, ...spread });
  });

  it('leaves out groups that were not scored, which teach nothing and are not dead', () => {
    const no = Number.NaN;
    const rewards = [[0.3, 0.3, no, no, 0, 1, 0.5, no]];
    const result = computeAdvantages(rewards, { ...config, reward_weights: null });
    const prompts = ['a', 'b', 'c', 'd'].map((id) => ({ record: { id, prompt: '' } }));
    const groups = groupOutcomes(prompts, result, 1);
    expect(groups.map(({ recordId, outcome }) => `${recordId} ${outcome}`)).toEqual(['a dead', 'c teaches']);
    expect(groupMetrics(groups, result)).toMatchObject({ 'groups/dead': 0.5, 'groups/solved': 0 });
    const none = computeAdvantages([[no, no, no, no]], { ...config, reward_weights: null });
    const step = new StepAccumulator();
    step.add(groupMetrics(groupOutcomes(prompts.slice(0, 2), none, 1), none));
    expect(step.take()).toEqual({});
  });

  it('measures the spread within groups, whatever lies between them', () => {
    const rewards = [[1, 1, 0.3, 0.3, 0, 1, 0.5, 0.5]];
    const result = computeAdvantages(rewards, { ...config, reward_weights: null });
    expect(groupMetrics([], result)['groups/spread']).toBeCloseTo(Math.SQRT1_2 / 4, 6);
  });
});

describe('completionMetrics', () => {
  it('counts all lengths, and those of completions that ended by themselves', () => {
    expect(completionMetrics([3, 8, 5, 8], [true, false, true, false])).toEqual({
      'completions/mean_length': 6,
      'completions/min_length': 3,
      'completions/max_length': 8,
      'completions/clipped_ratio': 0.5,
      'completions/mean_terminated_length': 4,
      'completions/min_terminated_length': 3,
      'completions/max_terminated_length': 5,
    });
  });

  it('gives terminated lengths of 0 when none ended', () => {
    expect(completionMetrics([8], [false])).toMatchObject({
      'completions/clipped_ratio': 1,
      'completions/mean_terminated_length': 0,
      'completions/max_terminated_length': 0,
    });
  });
});

describe('generationTokens', () => {
  it('counts each prompt once per completion', () => {
    expect(generationTokens([4, 4], [3, 5])).toBe(16);
  });
});

describe('diversityMetrics', () => {
  it('measures how alike the completions of a group are, and how much one repeats itself', () => {
    const loop = [1, 2, 1, 2, 1, 2, 1, 2]; // five 4-grams, two different
    const metrics = diversityMetrics([[1, 2, 3], [1, 2, 3], loop, [9]], 2);
    expect(metrics['completions/unique_ratio']).toBeCloseTo((1 / 2 + 1) / 2, 12);
    expect(metrics['completions/identical_groups']).toBe(0.5);
    expect(metrics['completions/repetition']).toBeCloseTo((1 - 2 / 5) / 4, 12);
  });
});

describe('StepAccumulator', () => {
  it('averages what was added, leaves out NaN, and keeps the last of what was set', () => {
    const step = new StepAccumulator();
    step.add({ kl: 1, entropy: Number.NaN, low: Number.NaN });
    step.add({ kl: 2, entropy: 0.5 });
    step.set({ num_tokens: 10 });
    step.set({ num_tokens: 30, loss: 0.25 });
    expect(step.take()).toEqual({ kl: 1.5, entropy: 0.5, num_tokens: 30, loss: 0.25 });
    expect(step.take()).toEqual({});
  });

  it('keeps a NaN that was set: a NaN loss is a warning sign, not a missing value', () => {
    const step = new StepAccumulator();
    step.set({ loss: Number.NaN });
    expect(step.take()).toEqual({ loss: Number.NaN });
  });
});
