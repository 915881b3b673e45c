import { describe, expect, it } from 'vitest';
import { summarizeRewards } from '../../../main/services/evaluation/rewards.ts';

const item = (id: string, metrics: Readonly<Record<string, number>>) => ({ id, completion: id, metrics });

describe('summarizeRewards', () => {
  it('takes the means of the reward and of every part', () => {
    const items = [item('a', { reward: 0.2, length: 1 }), item('b', { reward: 0.6, length: 0 })];
    const { n, mean_reward, low, high, measures } = summarizeRewards(items);
    expect([n, mean_reward, Object.keys(measures)]).toEqual([2, 0.4, ['length']]);
    expect([low, high, measures.length?.mean]).toEqual([0.2, 0.6, 0.5]);
  });

  it('leaves a part that is not a number out of its mean, and tells one that never was as such', () => {
    const items = [
      item('a', { reward: 0.5, length: Number.NaN, odd: Number.NaN }),
      item('b', { reward: 0.5, length: 1 }),
    ];
    const { measures } = summarizeRewards(items);
    expect([measures.length?.mean, measures.odd?.mean]).toEqual([1, Number.NaN]);
  });

  it('rejects nothing at all', () => {
    expect(() => summarizeRewards([])).toThrow('at least one scored completion, got none');
  });
});
