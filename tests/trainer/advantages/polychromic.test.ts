import { describe, expect, it } from 'vitest';
import { ngramSets, setDiversity } from '../../../main/text/diversity.ts';
import {
  diversityCredits,
  drawSets,
  scoreSet,
  setAdvantages,
  shareOut,
} from '../../../main/trainer/advantages/polychromic.ts';

const config = {
  num_generations: 4,
  polychromic_set_size: 2,
  polychromic_sets: 64,
  scale_rewards: 'none',
  seed: 3,
} as const;

describe('scoreSet', () => {
  it('is the mean reward times the diversity; a missing reward counts as 0', () => {
    const grams = ['a b', 'c d', 'a b'].map(ngramSets);
    expect(scoreSet([0, 1], [1, 0.5, 1], grams)).toEqual({ members: [0, 1], score: 0.75, diversity: 1 });
    expect(scoreSet([0, 2], [1, 0.5, 1], grams).score).toBe(0);
    expect(scoreSet([0, 1], [Number.NaN, 0.5, 1], grams).score).toBe(0.25);
  });
});

describe('shareOut', () => {
  it('gives each completion the mean over its sets of f minus the mean f', () => {
    const sets = [
      { members: [0, 1], score: 0.9, diversity: 1 },
      { members: [0, 2], score: 0.3, diversity: 1 },
      { members: [1, 2], score: 0, diversity: 1 },
    ];
    // mean f = 0.4: sets +0.5, -0.1, -0.4
    const [first, second, third, outside] = shareOut(sets, 4, 1);
    expect([first, second, third].map((value) => Number(value?.toFixed(12)))).toEqual([0.2, 0.05, -0.25]);
    expect(outside).toBe(0);
    expect(shareOut(sets, 4, 0.5)[0]).toBeCloseTo(0.4, 12);
  });
});

describe('setAdvantages', () => {
  it('prefers the completion that is good and different to the copies that are as good', () => {
    const { advantages, meanDiversity } = setAdvantages([1, 1, 1, 1], ['a b', 'a b', 'a b', 'c d'], 0, config);
    expect(advantages[3]).toBeGreaterThan(0);
    for (const copy of [0, 1, 2]) expect(advantages[copy]).toBeLessThan(0);
    expect(meanDiversity).toBeGreaterThan(0.3);
    expect(meanDiversity).toBeLessThan(0.7);
  });

  it('is 0 for a group without diversity or without reward, with and without scaling', () => {
    for (const scale_rewards of ['group', 'batch', 'none', 'mean'] as const) {
      const changed = { ...config, scale_rewards };
      const alike = setAdvantages([1, 0.2, 0.5, 1], ['a', 'a', 'a', 'a'], 0, changed);
      expect([...alike.advantages]).toEqual([0, 0, 0, 0]);
      expect([...setAdvantages([0, 0, 0, 0], ['a', 'b', 'c', 'd'], 0, changed).advantages]).toEqual([0, 0, 0, 0]);
    }
  });

  it('divides by the mean of f for MaxRL', () => {
    // All six pairs differ, so f = mean reward of a pair: 0.5 with the first, 0 without; mean f = 0.25. The first is in
    // three sets of (0.5 − 0.25) / 0.25 = 1; another in one of 1 and two of −1: −1/3.
    const { advantages } = setAdvantages([1, 0, 0, 0], ['a', 'b', 'c', 'd'], 0, { ...config, scale_rewards: 'mean' });
    [1, -1 / 3, -1 / 3, -1 / 3].forEach((value, i) => {
      expect(advantages[i]).toBeCloseTo(value, 6);
    });
  });

  it('equals the exact mean over all sets of a group when one set holds it whole', () => {
    const whole = setAdvantages([1, 0, 1, 0], ['a', 'b', 'c', 'd'], 0, { ...config, polychromic_set_size: 4 });
    expect(whole.meanScore).toBeCloseTo(0.5, 12);
    expect([...whole.advantages]).toEqual([0, 0, 0, 0]);
  });

  it('takes each set at most once, and all where there are no more than wanted', () => {
    const draw = (size: number, chosen: number, sets: number, generation = 0) =>
      drawSets(size, { polychromic_set_size: chosen, polychromic_sets: sets, seed: 3 }, generation, 0);
    const keys = (sets: number[][]) => sets.map((set) => [...set].sort((a, b) => a - b).join());
    // 8 over 4 is 70: enumerated, drawn from an enumeration, drawn one by one.
    expect(new Set(keys(draw(8, 4, 70))).size).toBe(70);
    expect(draw(8, 4, 200)).toHaveLength(70);
    for (const wanted of [69, 40, 34, 5]) expect(new Set(keys(draw(8, 4, wanted))).size).toBe(wanted);
    for (const set of draw(16, 8, 50)) expect(new Set(set).size).toBe(8);
    // Every member is as likely: 64 generations of 10 of 70 sets, half of which hold it.
    const held = Array.from({ length: 64 }, (_, g) => draw(8, 4, 10, g)).flat();
    for (let i = 0; i < 8; i++)
      expect(Math.abs(held.filter((set) => set.includes(i)).length / held.length - 0.5)).toBeLessThan(0.08);
  });

  it('is the exact mean over all sets where they are enumerated', () => {
    const all = { ...config, polychromic_sets: 6 };
    const [first, again] = [0, 1].map((g) => setAdvantages([1, 0, 0.5, 0.2], ['a', 'b', 'c', 'a'], g, all));
    expect(first).toEqual(again);
    // f: {01} 0.5, {02} 0.75, {03} 0, {12} 0.25, {13} 0.1, {23} 0.35; mean 0.325. The first's mean is 1.25/3.
    expect(first?.advantages[0]).toBeCloseTo(1.25 / 3 - 0.325, 6);
  });

  it('draws other sets in another generation and the same ones again', () => {
    const draw = (generation: number) => [
      ...setAdvantages([1, 0, 0.5, 0.2], ['a', 'b', 'c', 'a'], generation, { ...config, polychromic_sets: 5 })
        .advantages,
    ];
    expect(draw(1)).toEqual(draw(1));
    expect(new Set([1, 2, 3].map((generation) => draw(generation).join())).size).toBeGreaterThan(1);
  });
});

describe('diversityCredits', () => {
  it('is hand-computed for three texts', () => {
    // d01 = 0, d02 = d12 = 1; D = 2/3. Own means 1/2, 1/2, 1; other pairs 1, 1, 0.
    const { diversity, credits } = diversityCredits(['a', 'a', 'b']);
    expect(diversity).toBeCloseTo(2 / 3, 12);
    expect(credits.map((credit) => Number(credit.toFixed(12)))).toEqual(
      [-1 / 3, -1 / 3, 2 / 3].map((credit) => Number(credit.toFixed(12))),
    );
  });

  it('rejects a single text', () => {
    expect(() => diversityCredits(['a'])).toThrow('at least 2 generations to compare, got 1');
  });

  it.each([2, 3, 4])('has the exact gradient of the expected diversity of %i samples as its mean', (size) => {
    const outcomes = ['a b c', 'a b d', 'x y', 'a'];
    const logits = [0.3, -0.5, 0.9, 0.1];
    const exact = logits.map((_, k) => {
      const step = 1e-5;
      const at = (delta: number) =>
        expected(
          logits.map((logit, i) => logit + (i === k ? delta : 0)),
          outcomes,
          size,
        );
      return (at(step) - at(-step)) / (2 * step);
    });
    const estimated = meanEstimate(logits, outcomes, size);
    for (const [k, value] of exact.entries()) {
      expect(Math.abs(value)).toBeGreaterThan(1e-3);
      expect(estimated[k]).toBeCloseTo(value, 8);
    }
  });
});

function softmax(logits: readonly number[]): number[] {
  const weights = logits.map(Math.exp);
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / sum);
}

/** Every way of drawing `size` outcomes, with its probability. */
function draws(policy: readonly number[], size: number): { readonly picks: readonly number[]; readonly p: number }[] {
  let all: { readonly picks: readonly number[]; readonly p: number }[] = [{ picks: [], p: 1 }];
  for (let i = 0; i < size; i++)
    all = all.flatMap(({ picks, p }) => policy.map((q, k) => ({ picks: [...picks, k], p: p * q })));
  return all;
}

function textsOf(picks: readonly number[], outcomes: readonly string[]): string[] {
  return picks.map((k) => outcomes[k] ?? '');
}

/** E[D], exactly. */
function expected(logits: readonly number[], outcomes: readonly string[], size: number): number {
  return draws(softmax(logits), size).reduce(
    (sum, { picks, p }) => sum + p * setDiversity(textsOf(picks, outcomes).map(ngramSets)),
    0,
  );
}

/** E[Σ_i credit_i ∇ log π(y_i)], exactly; ∇_k log softmax at y = [y = k] − π_k. */
function meanEstimate(logits: readonly number[], outcomes: readonly string[], size: number): number[] {
  const policy = softmax(logits);
  const gradient = logits.map(() => 0);
  for (const { picks, p } of draws(policy, size)) {
    const { credits } = diversityCredits(textsOf(picks, outcomes));
    for (const [i, pick] of picks.entries())
      for (const k of gradient.keys())
        gradient[k] = (gradient[k] ?? 0) + p * (credits[i] ?? 0) * ((pick === k ? 1 : 0) - (policy[k] ?? 0));
  }
  return gradient;
}
