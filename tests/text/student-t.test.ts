import { describe, expect, it } from 'vitest';
import { incompleteBeta, pairedTest, tCdf, tInterval, tQuantile, welchTest } from '../../main/text/student-t.ts';

// Reference values of scipy 1.16: stats.t.ppf, stats.t.cdf, stats.ttest_rel, stats.ttest_ind(equal_var=False).
describe('tQuantile', () => {
  it.each([
    [1, 12.706204736432095],
    [2, 4.302652729696142],
    [3, 3.182446305284263],
    [9, 2.2621571627409915],
    [30, 2.0422724563012373],
    [1000, 1.9623390808264078],
  ])('has the tables value for %i degrees of freedom', (df, expected) => {
    expect(tQuantile(0.975, df)).toBeCloseTo(expected, 8);
  });

  it('is 0 in the middle, and refuses other shares', () => {
    expect(tQuantile(0.5, 4)).toBeCloseTo(0, 9);
    expect(() => tQuantile(1, 4)).toThrow('Expected a share from 0.5 to below 1, got 1');
  });
});

describe('tCdf', () => {
  it('is symmetric and meets scipy', () => {
    expect(tCdf(2.1, 4)).toBeCloseTo(0.948173356841199, 12);
    expect(tCdf(-2.1, 4)).toBeCloseTo(1 - 0.948173356841199, 12);
    expect(tCdf(0, 7)).toBe(0.5);
  });

  it('has the arctangent for one degree of freedom', () => {
    expect(tCdf(3, 1)).toBeCloseTo(0.5 + Math.atan(3) / Math.PI, 13);
  });
});

describe('incompleteBeta', () => {
  it('is x for a = b = 1 and bounded by 0 and 1', () => {
    expect(incompleteBeta(0.3, 1, 1)).toBeCloseTo(0.3, 13);
    expect([incompleteBeta(0, 2, 3), incompleteBeta(1, 2, 3)]).toEqual([0, 1]);
  });
});

describe('tInterval', () => {
  it('is the mean ± t s / √n', () => {
    // Mean 5, s = √(20/3), n = 4: half = 3.18244… · 2.58198… / 2.
    const { mean, low, high } = tInterval([2, 4, 6, 8]) ?? { mean: 0, low: 0, high: 0 };
    expect(mean).toBe(5);
    expect(high - mean).toBeCloseTo((3.182446305284263 * Math.sqrt(20 / 3)) / 2, 9);
    expect(mean - low).toBeCloseTo(high - mean, 12);
  });

  it('needs two values', () => expect([tInterval([]), tInterval([1])]).toEqual([null, null]));

  it('covers the mean of normal values in 95% of cases, even for three', () => {
    let seed = 1;
    const uniform = (): number => {
      seed = (seed * 48271) % 2147483647;
      return seed / 2147483647;
    };
    const normal = (): number => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
    let covered = 0;
    for (let trial = 0; trial < 4000; trial++) {
      const interval = tInterval([normal(), normal(), normal()]);
      if (interval !== null && interval.low <= 0 && interval.high >= 0) covered++;
    }
    expect(covered / 4000).toBeGreaterThan(0.935);
    expect(covered / 4000).toBeLessThan(0.965);
  });
});

const first = [0.61, 0.64, 0.6, 0.7];
const second = [0.55, 0.6, 0.58, 0.61];

describe('pairedTest', () => {
  it('meets scipy', () => {
    const test = pairedTest(first, second);
    expect(test?.p).toBeCloseTo(0.039020304171669046, 12);
    expect(test?.difference.mean).toBeCloseTo(0.0525, 12);
  });

  it('is certain of equal differences, and of none', () => {
    expect(pairedTest([1, 2], [0, 1])?.p).toBe(0);
    expect(pairedTest([1, 2], [1, 2])?.p).toBe(1);
    expect(pairedTest([1], [0])).toBeNull();
    expect(() => pairedTest([1], [])).toThrow('Expected as many values in both (1), got 0');
  });
});

describe('welchTest', () => {
  it('meets scipy', () => {
    const test = welchTest(first, second);
    expect(test?.p).toBeCloseTo(0.10218680218474353, 12);
    expect(test?.difference.low).toBeLessThan(0);
  });

  it('needs two values each', () => expect(welchTest([1], [1, 2])).toBeNull());
});
