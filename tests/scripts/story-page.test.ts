import { describe, expect, it } from 'vitest';
import { type Story, storyPage } from '../../scripts/story/page.ts';

const figures = { steps: 8, dead: [0.1, 0.6], checkpoint: 'c', seconds: 60, backend: 'wasm', session: 1 } as const;
const options = {
  stages: [10, 50],
  jumps: [50],
  beyond: [],
  steps: 8,
  collapse_patience: 5,
  learning_rate: 2e-4,
  stage_learning_rates: [2e-4, 2e-4],
  settings: {},
};

function story(seed: number, score: number): Story {
  return {
    model_sha256: 'a1',
    options,
    seed,
    base: { 10: 0.5, 50: 0.5 },
    stages: [
      { ...figures, words: 10, from: 'base', reward: [0.6, 0.9], verdict: null, held_out: { 10: score, 50: 0.7 } },
      { ...figures, words: 50, from: '10 words', reward: [0.7, 0.9], verdict: null, held_out: { 10: score } },
    ],
    jumps: [{ ...figures, words: 50, reward: [0.5, 0.5], verdict: 'step 5: identical', held_out: { 50: 0.5 } }],
    backend: 'wasm',
    seconds: 600,
  };
}

describe('storyPage', () => {
  it('has a row for the base, each jump and each stage, with a cell for each length', () => {
    const rows = storyPage([story(42, 0.99)]).split('\n');
    expect(rows).toContain('| none | | | | | 0.500 | 0.500 |');
    expect(rows).toContain('| **jump to 50 words** | the base | 8 | 0.50 → 0.50 | 0.10 → 0.60 |  | 0.500 |');
    expect(rows).toContain('| 10 words | the base | 8 | 0.60 → 0.90 | 0.10 → 0.60 | 0.990 | 0.700 |');
    expect(rows).toContain('| 50 words | 10 words | 8 | 0.70 → 0.90 | 0.10 → 0.60 | 0.990 |  |');
    expect(rows).toContain('- to 50 words: seed 42 “step 5: identical”');
  });

  it('gives the mean of several seeds with a t-interval', () => {
    const page = storyPage([story(2, 1), story(1, 0.98)]);
    // Half a difference of 0.02, and t for one degree of freedom is 12.706.
    expect(page).toContain('| 0.990 ± 0.127 | 0.700 ± 0.000 |');
    expect(page).toContain('seeds 1, 2');
    expect(page).toContain('- to 50 words: seed 1 “step 5: identical”, seed 2 step 5\n');
    expect(page).toContain('Minutes of the whole table: 10 for seed 1 (wasm), 10 for seed 2 (wasm).\n');
  });

  it('pairs rows by their words, whatever order a file has them in', () => {
    const other = story(2, 1);
    const page = storyPage([story(1, 1), { ...other, stages: other.stages.toReversed() }]);
    expect(page).toContain('| 10 words | the base | 8 | 0.60 → 0.90 | 0.10 → 0.60 | 1.000 ± 0.000 | 0.700 ± 0.000 |');
  });

  it('names the learning rate, and stages with another one', () => {
    expect(storyPage([story(1, 1)])).toContain('a learning rate of 0.0002; seed 1.');
    const lowered = { ...story(1, 1), options: { ...options, stage_learning_rates: [2e-4, 7e-5] } };
    expect(storyPage([lowered])).toContain('a learning rate of 0.0002 (0.00007 in the stage of 50 words); seed 1.');
    expect(() => storyPage([story(2, 1), lowered])).toThrow('differ in stage_learning_rates');
  });

  it('says what was trained in which session where there were several', () => {
    const [first, second] = [story(1, 1), story(2, 1)];
    const again = (of: Story): Story => ({
      ...of,
      stages: of.stages.map((stage) => (stage.words === 50 ? { ...stage, session: 3 } : stage)),
    });
    const jumped = { ...second, jumps: second.jumps.map((jump) => ({ ...jump, session: 2 })) };
    expect(storyPage([first])).not.toContain('sessions');
    expect(storyPage([again(first), again(jumped)])).toContain(
      ' Trained in several sessions: seed 1 (jump to 50 and stage of 10; then stage of 50), seed 2 (stage of 10; then jump to 50; then stage of 50).\n',
    );
    expect(storyPage([first, jumped])).toContain(
      ' Trained in several sessions: seed 2 (stages of 10, 50; then jump to 50).\n',
    );
  });

  it('says since when there could have been a verdict where there is none', () => {
    const silent = (steps: number): Story => ({
      ...story(1, 1),
      jumps: [{ ...figures, steps, words: 50, reward: [0.5, 0.5], verdict: null, held_out: { 50: 0.5 } }],
    });
    expect(storyPage([silent(8)])).toContain(
      '- to 50 words: seed 1 none in 8 steps; a flat reward is only called flat from step 30 on\n',
    );
    expect(storyPage([silent(60)])).toContain('- to 50 words: seed 1 none in 60 steps\n');
  });

  it('refuses seeds of other weights or options, and to be written out of nothing', () => {
    expect(() => storyPage([])).toThrow('at least one seed');
    expect(() => storyPage([story(1, 1), { ...story(2, 1), model_sha256: 'b2' }])).toThrow(
      "seed 1 and seed 2 differ in the model's weights",
    );
    const shorter = { ...story(2, 1), options: { ...options, steps: 2 } };
    expect(() => storyPage([story(1, 1), shorter])).toThrow('differ in steps (8, not 2)');
  });
});
