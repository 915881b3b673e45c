import { describe, expect, it } from 'vitest';
import { distinctN, repetition } from '../../main/text/repetition.ts';

describe('repetition', () => {
  it('is the share of n-grams that came before', () => {
    expect(repetition(['a', 'b', 'c', 'd', 'e'])).toBe(0);
    // a b a b a b: five 2-grams, two distinct.
    expect(repetition(['a', 'b', 'a', 'b', 'a', 'b'], 2)).toBeCloseTo(3 / 5, 12);
    expect(repetition(Array.from({ length: 103 }, () => 'x'))).toBeCloseTo(0.99, 12);
  });

  it('is 0 for texts shorter than one n-gram', () => {
    expect(repetition(['a', 'a'])).toBe(0);
  });
});

describe('distinctN', () => {
  it('is different n-grams over all n-grams', () => {
    expect(
      distinctN(
        [
          ['a', 'b'],
          ['a', 'c'],
        ],
        1,
      ),
    ).toBe(3 / 4);
    expect(
      distinctN(
        [
          ['a', 'b'],
          ['a', 'b'],
        ],
        2,
      ),
    ).toBe(1 / 2);
    expect(distinctN([], 1)).toBe(1);
  });
});
