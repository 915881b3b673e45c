import { describe, expect, it } from 'vitest';
import { xRange } from '../../../renderer/charts/x-range.ts';

describe('xRange', () => {
  it('is that of the steps, and one step around a single one: uPlot would make 0 to 100 of step 0', () => {
    expect(xRange(null, [0, 1, 12], 0, 12)).toEqual([0, 12]);
    expect(xRange(null, [0], 0, 100)).toEqual([0, 1]);
    expect(xRange(null, [7], 6.3, 7.7)).toEqual([6, 8]);
    expect(xRange(null, [], null, null)).toEqual([0, 1]);
    expect(xRange([2, 5], [0], 0, 100)).toEqual([2, 5]);
  });
});
