import { describe, expect, it } from 'vitest';
import { lengthBins, stageMarks, wordsAt } from '../../../renderer/texts/stages.ts';

describe('lengthBins', () => {
  it('counts every text once, outliers in the outermost bins', () => {
    const bins = lengthBins([1, 10, 100, 101, 5000]);
    expect(bins.reduce((sum, { count }) => sum + count, 0)).toBe(5);
    expect([bins[0]?.count, bins.at(-1)?.count]).toEqual([2, 1]);
    const hundred = bins.find(({ from, to }) => from <= 2 && to > 2);
    expect(hundred?.count).toBe(2);
  });

  it('spans every stage even without texts', () => {
    const bins = lengthBins([]);
    const [from = 0, to = 0] = [bins[0]?.from, bins.at(-1)?.to];
    expect(stageMarks.every(({ value }) => value > from && value < to)).toBe(true);
    expect(stageMarks.map(({ value }) => wordsAt(value))).toEqual(['10', '25', '50', '100', '200', '500']);
  });
});
