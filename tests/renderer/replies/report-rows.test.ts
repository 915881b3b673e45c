import { describe, expect, it } from 'vitest';
import { differences, mean, modelLabel, signedMean } from '../../../renderer/replies/report-rows.ts';

const pair = {
  ...{ from: 'a', to: 'b', difference: { mean: 0.1, low: 0.05, high: 0.2 } },
  ...{ p: 0.001, p_corrected: 0.01, significant: true, wins: 5, ties: 2, losses: 1 },
};

describe('differences', () => {
  it('gives the others minus one, turned round where the pair was compared the other way', () => {
    const [same] = differences([pair], 'a', ['b']);
    expect(same).toMatchObject({ mean: 0.1, low: 0.05, high: 0.2, p: 0.01, significant: true, wins: 5, losses: 1 });
    const [turned] = differences([pair], 'b', ['a']);
    expect(turned).toEqual({
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

  it('has nothing where a measure has no numbers', () => {
    expect(differences([], 'a', ['b', 'c'])).toEqual([null, null]);
  });
});

describe('numbers and names', () => {
  it('show what is no share with fewer decimals', () => {
    expect([mean(0.12345), mean(11.24), mean(null), signedMean(-0.5), signedMean(0)]).toEqual([
      '0.123',
      '11.2',
      '–',
      '−0.500',
      '+0.000',
    ]);
  });

  it('call methods by their labels', () => {
    expect([modelLabel('grpo_from_baseline'), modelLabel('start')]).toEqual(['GRPO', 'start']);
  });
});
