import { describe, expect, it } from 'vitest';
import { movedTo } from '../../../../renderer/components/queue/moved-to.ts';

describe('movedTo', () => {
  it('puts one item at another place', () => {
    expect(movedTo([1, 2, 3], 3, 0)).toEqual([3, 1, 2]);
    expect(movedTo([1, 2, 3], 1, 2)).toEqual([2, 3, 1]);
  });
});
