import { describe, expect, it } from 'vitest';
import {
  isClearlyBest,
  leaderOf,
  leads,
  passOverSeeds,
  settingScore,
} from '../../../main/services/sweeps/statistics.ts';

const seeds = (...values: number[]): Map<number, number> => new Map(values.map((value, i) => [42 + i, value]));

describe('settingScore', () => {
  it('has an interval from two seeds on', () => {
    expect(settingScore(seeds())).toEqual({ n: 0, mean: null, interval: null });
    expect(settingScore(seeds(0.5))).toEqual({ n: 1, mean: 0.5, interval: null });
    expect(settingScore(seeds(2, 4, 6, 8)).interval?.high).toBeCloseTo(9.1085, 3);
  });
});

describe('leads', () => {
  it('pairs seeds: what varies by seed alone hides no difference', () => {
    const leader = seeds(0.3, 0.6, 0.9, 0.5);
    const other = seeds(0.2, 0.51, 0.79, 0.4);
    const [lead] = leads([{ leader, other }]);
    expect(lead).toMatchObject({ paired: true, significant: true });
    // The same scores without common seeds say nothing.
    const unpaired = new Map([...other].map(([seed, value]) => [seed + 10, value]));
    expect(leads([{ leader, other: unpaired }])[0]).toMatchObject({ paired: false, significant: false });
  });

  it('corrects for the number of settings', () => {
    // p = 0.039 alone.
    const leader = seeds(0.61, 0.64, 0.6, 0.7);
    const other = seeds(0.55, 0.6, 0.58, 0.61);
    expect(leads([{ leader, other }])[0]?.significant).toBe(true);
    const two = leads([
      { leader, other },
      { leader, other },
    ]);
    expect(two.map((lead) => lead?.significant)).toEqual([false, false]);
    expect(two[0]?.pCorrected).toBeCloseTo(2 * 0.039020304171669046, 9);
  });

  it('tests nothing with one seed', () => {
    expect(leads([{ leader: seeds(0.9), other: seeds(0.1) }])).toEqual([null]);
    expect(isClearlyBest([null])).toBe(false);
    expect(isClearlyBest([])).toBe(false);
  });
});

describe('leaderOf', () => {
  it('is the highest mean, not the highest seed', () => {
    expect(leaderOf([seeds(0.9, 0.1), seeds(0.6, 0.6), seeds()])).toBe(1);
    expect(leaderOf([seeds(), seeds()])).toBeNull();
    expect(leaderOf([])).toBeNull();
  });
});

describe('passOverSeeds', () => {
  const passed = (...ids: string[]): Map<string, boolean> => new Map(['a', 'b'].map((id) => [id, ids.includes(id)]));

  it('is the chance that one of k runs solves a record', () => {
    // a: 2 of 3 seeds, b: none. pass@1 = (2/3 + 0) / 2, pass@2 = (1 + 0) / 2.
    expect(passOverSeeds([passed('a'), passed('a'), passed()])).toEqual([
      { k: 1, rate: expect.closeTo(1 / 3, 12) },
      { k: 2, rate: 0.5 },
      { k: 3, rate: 0.5 },
    ]);
  });

  it('needs two seeds and records in common', () => {
    expect(passOverSeeds([passed('a')])).toEqual([]);
    expect(passOverSeeds([passed('a'), new Map([['c', true]])])).toEqual([]);
  });
});
