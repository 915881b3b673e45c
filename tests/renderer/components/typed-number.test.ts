import { describe, expect, it } from 'vitest';
import { fitsBounds, settled } from '../../../renderer/components/typed-number.ts';

const bounds = { min: 1, max: 2000 };

describe('fitsBounds', () => {
  it('is what the field shows, if that can be used', () => {
    expect([1, 2000, '12.', '12.0'].map((typed) => fitsBounds(typed, bounds))).toEqual([true, true, true, true]);
    expect([0, 2001, '', '-'].map((typed) => fitsBounds(typed, bounds))).toEqual([false, false, false, false]);
  });
});

describe('settled', () => {
  it('is the nearest number that can be used, and the last one where there is none', () => {
    expect([99_999, 0, 64, '', '-'].map((typed) => settled(typed, 12, bounds))).toEqual([2000, 1, 64, 12, 12]);
  });
});
