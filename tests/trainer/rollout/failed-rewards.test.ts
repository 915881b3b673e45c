import { describe, expect, it } from 'vitest';
import { failureMetrics, withFailures } from '../../../main/trainer/rollout/failed-rewards.ts';

const rewards = [
  [1, Number.NaN, 3, 4],
  [5, Number.NaN, 7, 8],
];
const failures = [null, 'reward.ts:1:1: no', null, null];
const answers = ['a', 'b', 'c', 'd'].map(
  (id) => ({ record: { id, prompt: '' }, completion: '', tokens: 1, finish: 'stop' }) as const,
);
const apply = (reward_failure: 'stop' | 'zero' | 'skip_group') =>
  withFailures(rewards, failures, answers, { reward_failure, num_generations: 2 });

describe('withFailures', () => {
  it('stops with the record and the reason', () => {
    expect(() => apply('stop')).toThrow('The reward failed on a completion of record b: reward.ts:1:1: no');
  });

  it('counts a failed completion as 0', () => {
    expect(apply('zero')).toEqual([
      [1, 0, 3, 4],
      [5, 0, 7, 8],
    ]);
  });

  it('takes nothing from its group', () => {
    expect(apply('skip_group')).toEqual([
      [Number.NaN, Number.NaN, 3, 4],
      [Number.NaN, Number.NaN, 7, 8],
    ]);
  });

  it('changes nothing where nothing failed', () => {
    const none = failures.map(() => null);
    expect(withFailures(rewards, none, answers, { reward_failure: 'stop', num_generations: 2 })).toBe(rewards);
  });
});

describe('failureMetrics', () => {
  it('is the share of failures, and absent without any', () => {
    expect(failureMetrics(failures)).toEqual({ reward_failures: 0.25 });
    expect(failureMetrics([null, null])).toEqual({});
  });
});
