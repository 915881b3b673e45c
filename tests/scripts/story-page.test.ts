import { describe, expect, it } from 'vitest';
import { type Story, storyPage } from '../../scripts/story/page.ts';

const figures = { steps: 8, dead: [0.1, 0.6], checkpoint: 'c', seconds: 60 } as const;

function story(seed: number, score: number): Story {
  return {
    seed,
    base: { 10: 0.5, 50: 0.5 },
    stages: [
      { ...figures, words: 10, from: 'base', reward: [0.6, 0.9], verdict: null, held_out: { 10: score, 50: 0.7 } },
      { ...figures, words: 50, from: '10 words', reward: [0.7, 0.9], verdict: null, held_out: { 10: score } },
    ],
    jumps: [{ ...figures, words: 50, reward: [0.5, 0.5], verdict: 'step 5: identical', held_out: { 50: 0.5 } }],
    seconds: 600,
  };
}

describe('storyPage', () => {
  it('has a row for the base, each jump and each stage, with a cell for each length', () => {
    const rows = storyPage([story(42, 0.99)]).split('\n');
    expect(rows).toContain('| none | | | | | 0.500 | 0.500 |');
    expect(rows).toContain('| **jump to 50 words** | the base | 8 | 0.50 → 0.50 | 0.10 → 0.60 |  | 0.500 |');
    expect(rows).toContain('| 50 words | 10 words | 8 | 0.70 → 0.90 | 0.10 → 0.60 | 0.990 |  |');
    expect(rows).toContain('- to 50 words, seed 42: “step 5: identical”');
  });

  it('gives the mean of several seeds with the least and the largest', () => {
    const page = storyPage([story(1, 0.98), story(2, 1)]);
    expect(page).toContain('| 0.990 (0.980–1.000) | 0.700 (0.700–0.700) |');
    expect(page).toContain('seeds 1, 2');
  });

  it('refuses to be written out of nothing', () => {
    expect(() => storyPage([])).toThrow('at least one seed');
  });
});
