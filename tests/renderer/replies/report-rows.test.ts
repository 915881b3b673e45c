import { describe, expect, it } from 'vitest';
import { differences, mean, modelLabel } from '../../../renderer/replies/report-rows.ts';

const pair = {
  from: 'a',
  to: 'b',
  difference: { mean: 0.1, low: 0.05, high: 0.2 },
  p: 0.001,
  p_corrected: 0.01,
  significant: true,
  wins: 5,
  ties: 2,
  losses: 1,
};

describe('differences', () => {
  it('returns the others minus one, reversed if the pair was compared the other way round', () => {
    const [same] = differences([pair], 'a', ['b']);
    expect(same).toMatchObject({ mean: 0.1, low: 0.05, high: 0.2, p: 0.01, significant: true, wins: 5, losses: 1 });
    const [reversed] = differences([pair], 'b', ['a']);
    expect(reversed).toEqual({
      mean: -0.1,
      low: -0.2,
      high: -0.05,
      p: 0.01,
      significant: true,
      wins: 1,
      ties: 2,
      losses: 5,
    });
  });

  it('is null where a metric has no values', () => {
    expect(differences([], 'a', ['b', 'c'])).toEqual([null, null]);
  });
});

describe('numbers and names', () => {
  it('show larger values with fewer decimals', () => {
    expect([mean(0.12345), mean(11.24), mean(null)]).toEqual(['0.123', '11.2', '–']);
  });

  it('call methods by their labels', () => {
    expect([modelLabel('grpo_from_baseline'), modelLabel('start')]).toEqual(['GRPO', 'start']);
  });
});
