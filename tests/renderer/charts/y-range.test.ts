import { describe, expect, it } from 'vitest';
import { fromData, isEmptyRange, withBounds } from '../../../renderer/charts/y-range.ts';

describe('withBounds', () => {
  it('keeps the range of the data where no bound is set', () => {
    expect(withBounds(fromData, [0.2, 0.9], false)).toEqual([0.2, 0.9]);
  });

  it('replaces each bound that is set', () => {
    expect(withBounds({ min: 0.5, max: null }, [0.2, 0.9], false)).toEqual([0.5, 0.9]);
    expect(withBounds({ min: 0, max: 2 }, [0.2, 0.9], false)).toEqual([0, 2]);
  });

  it('ignores bounds that leave nothing to draw', () => {
    expect(withBounds({ min: 1.5, max: null }, [0.2, 0.9], false)).toEqual([0.2, 0.9]);
  });

  it('ignores a lower bound of 0 on a logarithmic axis', () => {
    expect(withBounds({ min: 0, max: 100 }, [0.1, 10], true)).toEqual([0.1, 100]);
  });
});

describe('isEmptyRange', () => {
  it('is true only if both bounds are set the wrong way round', () => {
    expect(isEmptyRange({ min: 1, max: 1 })).toBe(true);
    expect(isEmptyRange({ min: 1, max: null })).toBe(false);
    expect(isEmptyRange({ min: 0, max: 1 })).toBe(false);
  });
});
