import { describe, expect, it } from 'vitest';
import { shortenHistory } from '../../../main/trainer/run/kept-history.ts';

const steps = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** The steps in the history of a run that resumes with some and ends at a step. */
function ranTo(end: number, before: readonly number[] = []): number[] {
  const history = before.map((step) => ({ step }));
  for (const step of steps((before.at(-1) ?? 0) + 1, end)) {
    history.push({ step });
    shortenHistory(history, { most: 40, first: 5 });
  }
  return history.map(({ step }) => step);
}

describe('shortenHistory', () => {
  it('keeps every step of a short run', () => {
    expect(ranTo(39)).toEqual(steps(1, 39));
  });

  it('keeps the first and the newest steps, and some between them', () => {
    expect(ranTo(40)).toEqual([...steps(1, 5), 6, 8, 10, 12, 14, 16, 18, 20, ...steps(21, 40)]);
    for (let end = 1000; end < 1040; end++) {
      const kept = ranTo(end);
      expect(kept.length).toBeLessThan(40);
      expect(kept.slice(0, 5)).toEqual(steps(1, 5));
      expect(kept.slice(-20)).toEqual(steps(end - 19, end));
      const gaps = kept.slice(6).map((step, i) => step - (kept[i + 5] ?? 0));
      expect(gaps).toEqual(gaps.toSorted((a, b) => b - a));
      expect(gaps[0]).toBeLessThan(end / 4);
    }
  });

  it('is the same after a resume', () => {
    expect(ranTo(1000, ranTo(333))).toEqual(ranTo(1000));
  });
});
