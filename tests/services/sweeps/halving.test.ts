import { describe, expect, it } from 'vitest';
import { plannedSteps, rungSizes, rungsOf, survivors } from '../../../main/services/sweeps/halving.ts';

describe('rungsOf', () => {
  it('multiplies the steps and ends with the whole run', () => {
    expect(rungsOf(10, 3, 90)).toEqual([10, 30, 90]);
    expect(rungsOf(10, 3, 100)).toEqual([10, 30, 90, 100]);
    expect(rungsOf(50, 2, 60)).toEqual([50, 60]);
  });
});

describe('rungSizes', () => {
  it('keeps one in so many, and always one', () => {
    expect(rungSizes(9, 3, 3)).toEqual([9, 3, 1]);
    expect(rungSizes(5, 2, 4)).toEqual([5, 2, 1, 1]);
  });
});

describe('survivors', () => {
  const scores = [
    { setting: 0, score: 0.5, reward: null },
    { setting: 1, score: null, reward: 1 },
    { setting: 2, score: 0.7, reward: 0.1 },
    { setting: 3, score: 0.5, reward: 0.2 },
    { setting: 4, score: Number.NaN, reward: 1 },
    { setting: 5, score: 0.5, reward: 0.3 },
    { setting: 6, score: 0.5, reward: null },
  ];

  it('keeps the best, of equals that of the higher reward, and never one without a score', () => {
    expect(survivors(scores, 2)).toEqual([2, 5]);
    expect(survivors(scores, 9)).toEqual([2, 5, 3, 0, 6]);
  });
});

describe('plannedSteps', () => {
  it('counts whole runs, and what successive halving saves', () => {
    expect(plannedSteps([60, 60, 30], 2, null)).toBe(300);
    // 9 × 10 + 3 × 20 + 1 × 60, for two seeds, instead of 9 × 90 × 2.
    expect(plannedSteps(Array(9).fill(90), 2, { rungs: [10, 30, 90], factor: 3 })).toBe(420);
  });
});
