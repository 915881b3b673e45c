import { describe, expect, it } from 'vitest';
import { scaleOf } from '../../../renderer/components/reward-scale.ts';

describe('scaleOf', () => {
  it('is 0 to 1, or wider if rewards are', () => {
    expect(scaleOf([0.2, 0.7])).toEqual([0, 1]);
    expect(scaleOf([-2, 0.5, 6, Number.NaN])).toEqual([-2, 6]);
    expect(scaleOf([])).toEqual([0, 1]);
  });
});
