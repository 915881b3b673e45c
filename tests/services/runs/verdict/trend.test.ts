import { describe, expect, it } from 'vitest';
import { meanOver, newestWith, trendOf } from '../../../../main/services/runs/verdict/trend.ts';

const steps = (values: readonly (number | undefined)[]) =>
  values.map((value, i) => ({ step: i + 1, metrics: value === undefined ? {} : { reward: value } }));

describe('meanOver', () => {
  it('averages each metric over the steps that have it', () => {
    expect(meanOver(steps([1, undefined, 2]))).toEqual({ reward: 1.5 });
    expect(meanOver([])).toEqual({});
  });

  it('lets what is not finite through', () => {
    expect(meanOver(steps([1, Number.NaN])).reward).toBeNaN();
  });
});

describe('newestWith', () => {
  it('counts the steps that have the metric', () => {
    const some = steps([1, undefined, 2, undefined, 3, undefined]);
    expect(newestWith(some, 'reward', 2).map(({ step }) => step)).toEqual([3, 4, 5, 6]);
    expect(newestWith(some, 'reward', 4)).toEqual(some);
  });
});

describe('trendOf', () => {
  it('fits a line through the steps that have the metric', () => {
    expect(trendOf(steps([0.1, undefined, 0.3, Number.NaN, 0.5]), 'reward')).toEqual({
      change: expect.closeTo(0.4),
      direction: 'up',
      steps: 3,
      over: 5,
    });
  });

  it('is sure of no change that noise could have made, nor of one too small to matter', () => {
    expect(trendOf(steps([0.1, 0.5, 0.1, 0.5, 0.2, 0.5]), 'reward')?.direction).toBe('flat');
    expect(trendOf(steps([0.5, 0.501, 0.502, 0.503]), 'reward')?.direction).toBe('flat');
    expect(trendOf(steps([0.5, 0.4]), 'reward')?.direction).toBe('flat');
  });

  it('is null without two values', () => {
    expect(trendOf(steps([0.5]), 'reward')).toBe(null);
    expect(trendOf([], 'reward')).toBe(null);
  });
});
