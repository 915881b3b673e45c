import { describe, expect, it } from 'vitest';
import { passAtK } from '../../main/text/pass-at-k.ts';

describe('passAtK', () => {
  it('is the share that passed for k = 1 and certain when too few failed', () => {
    expect(passAtK(10, 3, 1)).toBeCloseTo(0.3, 12);
    expect(passAtK(10, 0, 5)).toBe(0);
    expect(passAtK(5, 2, 4)).toBe(1);
    // 1 - C(3,2)/C(4,2) = 1 - 3/6
    expect(passAtK(4, 1, 2)).toBeCloseTo(0.5, 12);
  });

  it('rejects k beyond the samples, and counts that make no sense', () => {
    expect(() => passAtK(8, 2, 10)).toThrow('Expected k to be at most the 8 samples of a prompt, got 10');
    expect(() => passAtK(8, 9, 1)).toThrow('Expected at most 8 samples to pass, got 9');
    expect(() => passAtK(8, 1.5, 1)).toThrow('"c" to be a whole number of at least 0, got 1.5');
  });
});
