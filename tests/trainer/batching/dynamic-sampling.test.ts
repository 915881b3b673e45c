import { describe, expect, it } from 'vitest';
import { computeAdvantages, deadGroups } from '../../../main/trainer/advantages/advantages.ts';
import { dynamicSamplingMetrics, replaceGroups, replaceRows } from '../../../main/trainer/batching/dynamic-sampling.ts';
import type { Rollouts } from '../../../main/trainer/batching/generation.ts';

/** Groups of two completions each, named after their prompt. */
function rollouts(names: string, rewards: readonly (readonly number[])[]): Rollouts {
  const prompts = [...names].map((id) => ({ record: { id, prompt: id }, promptIds: [], targetIds: [] }));
  const texts = [...names].flatMap((name) => [`${name}1`, `${name}2`]);
  const completions = texts.map((text) => ({ ids: [text.charCodeAt(0), Number(text[1])], terminated: true }));
  return { prompts, texts, completions, failures: texts.map(() => null), rewards };
}
const config = {
  num_generations: 2,
  scale_rewards: 'group',
  multi_objective_aggregation: 'sum_then_normalize',
  reward_weights: null,
} as const;

describe('replaceRows', () => {
  it('puts whole groups in the place of others and keeps the rest', () => {
    expect(replaceRows([1, 2, 3, 4, 5, 6], [0, 2], [10, 20, 30, 40], 2)).toEqual([10, 20, 3, 4, 30, 40]);
    expect(replaceRows(['a', 'b', 'c'], [1], ['x'], 1)).toEqual(['a', 'x', 'c']);
    expect(replaceRows([1, 2], [], [], 2)).toEqual([1, 2]);
  });
});

describe('replaceGroups', () => {
  it('replaces prompts, completions, texts and the rewards of every function together', () => {
    const before = rollouts('abc', [
      [0, 1, 5, 5, 0, 0],
      [1, 1, 1, 1, 1, 1],
    ]);
    const others = rollouts('xy', [
      [2, 3, 4, 4],
      [7, 7, 8, 8],
    ]);
    const after = replaceGroups(before, [1, 2], others, 2);
    expect(after.prompts.map(({ record }) => record.id)).toEqual(['a', 'x', 'y']);
    expect(after.texts).toEqual(['a1', 'a2', 'x1', 'x2', 'y1', 'y2']);
    expect(after.completions.map(({ ids }) => String.fromCharCode(ids[0] ?? 0)).join('')).toBe('aaxxyy');
    expect(after.rewards).toEqual([
      [0, 1, 2, 3, 4, 4],
      [1, 1, 7, 7, 8, 8],
    ]);
    expect(before.texts[2]).toBe('b1');
  });
});

describe('deadGroups', () => {
  it('is the groups whose rewards are all equal, but not one with too few scored rows', () => {
    expect(deadGroups(computeAdvantages([[0, 1, 5, 5, 0, 0]], config))).toEqual([1, 2]);
    expect(deadGroups(computeAdvantages([[0, Number.NaN, 5, 5]], config))).toEqual([1]);
  });
});

describe('dynamicSamplingMetrics', () => {
  it('counts what was sampled in addition and what is still dead, and averages every reward', () => {
    // Three groups, of which two were sampled again; one of those is still dead.
    const kept = computeAdvantages([[0, 1, 2, 3, 4, 4]], config);
    expect(
      dynamicSamplingMetrics(
        [
          [0, 1, 5, 5, 0, 0],
          [2, 3, 4, 4],
        ],
        kept,
        2,
      ),
    ).toEqual({
      'dynamic_sampling/resampled': 2,
      'dynamic_sampling/dead': 1,
      // (0 + 1 + 5 + 5 + 0 + 0 + 2 + 3 + 4 + 4) / 10
      'dynamic_sampling/reward': 2.4,
    });
  });
});
