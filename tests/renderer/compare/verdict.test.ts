import { describe, expect, it } from 'vitest';
import type { ComparedModel } from '../../../main/api/contract/index.ts';
import { verdictInWords } from '../../../renderer/compare/verdict.ts';

type Compared = Pick<ComparedModel, 'name' | 'summary' | 'paired'>;

/** A model with its mean and, unless it is the baseline, its difference from it. */
function model(name: string, mean: number, difference?: readonly [low: number, mean: number, high: number]): Compared {
  const [low, gain, high] = difference ?? [0, 0, 0];
  const paired =
    difference === undefined ? null : { n: 64, difference: { low, mean: gain, high }, wins: 1, ties: 0, losses: 0 };
  return { name, summary: { mean_alignment: mean, n: 64 }, paired } as Compared;
}

const metric = { label: 'Alignment' };
const tiny = model('tiny', 0.545);
const step41 = model('step 41', 1, [0.416, 0.455, 0.486]);

describe('verdictInWords', () => {
  it('names the best model with its difference and interval', () => {
    expect(verdictInWords([tiny, step41, model('step 15', 0.9, [0.3, 0.355, 0.4])], metric)).toBe(
      'step 41 improves on tiny: alignment 1.000 against 0.545, +0.455 [+0.416, +0.486] on 64 held-out prompts.',
    );
    expect(verdictInWords([tiny, step41, { ...step41, name: 'step 30' }], metric)).toMatch(
      /^step 41, like one other, improves on tiny: /,
    );
  });

  it("claims nothing that the interval doesn't show, and says what is worse", () => {
    expect(verdictInWords([tiny, model('a', 0.56, [-0.01, 0.015, 0.04])], metric)).toMatch(
      /^a is not distinguishable from tiny: /,
    );
    const worse = model('b', 0.4, [-0.2, -0.145, -0.1]);
    expect(verdictInWords([tiny, worse], metric)).toMatch(/^b is worse than tiny: /);
    expect(verdictInWords([tiny, worse, { ...worse, name: 'c' }], metric)).toMatch(
      /^\S+, the best of the others, is worse than tiny: /,
    );
  });

  it('waits until all are evaluated', () => {
    expect(verdictInWords([tiny, step41, { name: 'late', summary: null, paired: null }], metric)).toBeNull();
    expect(verdictInWords([{ ...tiny, summary: null }, step41], metric)).toBeNull();
  });
});
