import { describe, expect, it } from 'vitest';
import { type Compared, comparisonVerdict } from '../../../../main/services/comparisons/paired/verdict.ts';

/** A model with its mean and, unless it is the baseline, its difference from it. */
function model(name: string, mean: number, difference?: readonly [low: number, mean: number, high: number]): Compared {
  const [low, gain, high] = difference ?? [0, 0, 0];
  const paired =
    difference === undefined ? null : { n: 64, difference: { low, mean: gain, high }, wins: 1, ties: 0, losses: 0 };
  return { name, mean, paired } as Compared;
}

const tiny = model('tiny', 0.545);
const step41 = model('step 41', 1, [0.416, 0.455, 0.486]);

describe('comparisonVerdict', () => {
  it('names the best model with its difference and interval', () => {
    expect(comparisonVerdict([tiny, step41, model('step 15', 0.9, [0.3, 0.355, 0.4])])).toBe(
      'step 41 improves on tiny: score 1.000 against 0.545, +0.455 [+0.416, +0.486] on 64 held-out prompts.',
    );
    expect(comparisonVerdict([tiny, step41, { ...step41, name: 'step 30' }])).toMatch(
      /^step 41, like one other, improves on tiny: /,
    );
  });

  it("claims nothing that the interval doesn't show, and says what is worse", () => {
    expect(comparisonVerdict([tiny, model('a', 0.56, [-0.01, 0.015, 0.04])])).toMatch(
      /^a is not distinguishable from tiny: /,
    );
    const worse = model('b', 0.4, [-0.2, -0.145, -0.1]);
    expect(comparisonVerdict([tiny, worse])).toMatch(/^b is worse than tiny: /);
    expect(comparisonVerdict([tiny, worse, { ...worse, name: 'c' }])).toMatch(
      /^\S+, the best of the others, is worse than tiny: /,
    );
  });

  it('waits until all are evaluated', () => {
    expect(comparisonVerdict([tiny, step41, { name: 'late', mean: null, paired: null }])).toBeNull();
    expect(comparisonVerdict([{ ...tiny, mean: null }, step41])).toBeNull();
  });
});
