import { describe, expect, it } from 'vitest';
import { randomStream } from '../../main/random.ts';
import { bootstrapDifference, bootstrapMean, meanOf, quantile, reaches } from '../../main/text/intervals.ts';

const values = Array.from({ length: 100 }, (_, i) => i / 99);

describe('reaches', () => {
  it('holds for sums and means that are below a number by rounding only', () => {
    const means = Array.from({ length: 64 }, (_, i) => meanOf(new Array<number>(i + 1).fill(0.9)));
    expect(means.some((mean) => mean < 0.9)).toBe(true);
    expect(means.every((mean) => reaches(mean, 0.9))).toBe(true);
    expect([0.6 + 0.3 >= 0.9, reaches(0.6 + 0.3, 0.9)]).toEqual([false, true]);
    expect([reaches(0.8999, 0.9), reaches(Number.NaN, 0), reaches(0, 0), reaches(-1, 0)]).toEqual([
      ...[false, false, true, false],
    ]);
  });
});

describe('quantile', () => {
  it('is linear between neighbours, as numpy.quantile', () => {
    expect(quantile([1, 2, 4], 0)).toBe(1);
    expect(quantile([1, 2, 4], 0.25)).toBe(1.5);
    expect(quantile([1, 2, 4], 0.9)).toBeCloseTo(3.6, 12);
    expect(quantile([1, 2, 4], 1)).toBe(4);
  });
});

describe('bootstrapMean', () => {
  it('is near the normal interval for a large sample', () => {
    const { mean, low, high } = bootstrapMean(values, randomStream(1).next);
    // Standard error of a uniform sample of 100: sqrt(1/12)/10 = 0.0289 (a little more for this even grid).
    expect(mean).toBeCloseTo(0.5, 10);
    expect(low).toBeCloseTo(0.5 - 1.96 * 0.0292, 1);
    expect(high - low).toBeGreaterThan(0.1);
    expect(high - low).toBeLessThan(0.13);
  });

  it('is the same for the same random numbers', () => {
    expect(bootstrapMean(values, randomStream(3).next)).toEqual(bootstrapMean(values, randomStream(3).next));
    expect(bootstrapMean(values, randomStream(3).next)).not.toEqual(bootstrapMean(values, randomStream(4).next));
  });

  it('has no width when all values are equal', () => {
    expect(bootstrapMean([1, 1, 1], randomStream(1).next)).toEqual({ mean: 1, low: 1, high: 1 });
  });

  it('widens with the level', () => {
    const wide = bootstrapMean(values, randomStream(1).next, { level: 0.99 });
    const narrow = bootstrapMean(values, randomStream(1).next, { level: 0.5, resamples: 500 });
    expect(wide.high - wide.low).toBeGreaterThan(narrow.high - narrow.low);
  });

  it('rejects no values', () => {
    expect(() => bootstrapMean([], randomStream(1).next)).toThrow('Expected at least one value');
  });
});

describe('bootstrapDifference', () => {
  it('pairs the values: a constant gain has no width', () => {
    const after = values.map((value) => value + 0.25);
    const { mean, low, high } = bootstrapDifference(values, after, randomStream(1).next);
    for (const value of [mean, low, high]) expect(value).toBeCloseTo(0.25, 10);
  });

  it('rejects unequal lengths', () => {
    expect(() => bootstrapDifference([1, 2], [1], randomStream(1).next)).toThrow(
      'Expected as many values after as before (2), got 1',
    );
  });
});
