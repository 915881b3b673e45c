import { describe, expect, it } from 'vitest';
import type { SampleFacts } from '../../../main/samples/sample.ts';
import { byReward, nearestStep, promptsOf, rewardScale } from '../../../renderer/samples/prompts.ts';

function sample(group: number, index: number, reward: number): SampleFacts {
  return {
    ...{ runId: 1, step: 1, group, index, reward, recordId: `r${group}` },
    advantage: 0,
    components: {},
    length: 1,
    terminated: true,
  };
}

const step = [sample(0, 0, 0.5), sample(0, 1, 0.5), sample(1, 0, 0), sample(1, 1, 0.8), sample(2, 0, Number.NaN)];

describe('promptsOf', () => {
  it('summarises each group, and marks dead ones', () => {
    const [dead, live] = promptsOf(step);
    expect(dead).toMatchObject({ recordId: 'r0', mean: 0.5, lowest: 0.5, highest: 0.5, dead: true });
    // Equal rewards with advantages, by their diversity, aren't dead.
    expect(promptsOf(step.map((sample) => ({ ...sample, advantage: 0.3 })))[0]?.dead).toBe(false);
    expect(live).toMatchObject({ recordId: 'r1', mean: 0.4, lowest: 0, highest: 0.8, dead: false });
  });

  it('orders by the lowest mean or the widest spread', () => {
    const rewarded = step.slice(0, 4);
    expect(promptsOf(rewarded, 'lowest').map(({ group }) => group)).toEqual([1, 0]);
    expect(promptsOf(rewarded, 'spread').map(({ group }) => group)).toEqual([1, 0]);
    expect(promptsOf(rewarded).map(({ group }) => group)).toEqual([0, 1]);
  });
});

describe('byReward', () => {
  it('puts the best first and missing rewards last; ties keep their order', () => {
    expect(byReward(step).map(({ group, index }) => `${group}${index}`)).toEqual(['11', '00', '01', '10', '20']);
  });
});

describe('nearestStep', () => {
  it('finds the saved step nearest to an unsaved one', () => {
    expect(nearestStep([1, 10, 20], 14)).toBe(10);
    expect(nearestStep([1, 10, 20], 16)).toBe(20);
    expect(nearestStep([1, 10, 20], 99)).toBe(20);
    expect(nearestStep([], 5)).toBeNull();
  });
});

describe('rewardScale', () => {
  it('is 0 to 1, or wider if rewards are', () => {
    expect(rewardScale(step)).toEqual([0, 1]);
    expect(rewardScale([sample(0, 0, -2), sample(0, 1, 6), sample(0, 2, Number.NaN)])).toEqual([-2, 6]);
  });
});
