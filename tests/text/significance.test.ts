import { describe, expect, it } from 'vitest';
import { randomStream } from '../../main/random.ts';
import { holm, signFlipTest } from '../../main/text/significance.ts';

describe('signFlipTest', () => {
  it('counts all sign patterns of a few differences', () => {
    // 1 + 2 + 3: only +++ and --- are as far from 0.
    expect(signFlipTest([1, 2, 3], () => 0)).toBe(2 / 8);
    // |1 - 1| = 0: every pattern is.
    expect(signFlipTest([1, -1], () => 0)).toBe(1);
    expect(signFlipTest([0, 0], () => 0)).toBe(1);
  });

  it('gives rewards of any size the same value', () => {
    const differences = [1, 2, 3, 1, -2, 4, 3, -1];
    for (const size of [0.1, 33333.3, 700000000.1])
      expect(
        signFlipTest(
          differences.map((value) => value * size),
          () => 0,
        ),
      ).toBe(36 / 256);
  });

  it('samples patterns of many differences', () => {
    const differences = Array.from({ length: 40 }, (_, i) => (i % 10 === 0 ? -1 : 1));
    expect(signFlipTest(differences, randomStream(1).next)).toBeLessThan(0.001);
    const balanced = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? -1 : 1.02));
    expect(signFlipTest(balanced, randomStream(1).next)).toBeGreaterThan(0.5);
  });
});

describe('holm', () => {
  it('is hand-computed: factors 3, 2, 1 in order of size, never falling, at most 1', () => {
    expect(holm([0.02, 0.01, 0.04])).toEqual([0.04, 0.03, 0.04]);
    expect(holm([0.5, 0.9])).toEqual([1, 1]);
    expect(holm([])).toEqual([]);
  });
});
