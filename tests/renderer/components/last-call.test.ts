import { describe, expect, it, vi } from 'vitest';
import { lastCall } from '../../../renderer/components/last-call.ts';

describe('lastCall', () => {
  it('computes again only for other items', () => {
    const compute = vi.fn((names: readonly string[]) => names.join());
    const joined = lastCall(compute);
    expect([joined(['a', 'b']), joined(['a', 'b'])]).toEqual(['a,b', 'a,b']);
    expect(compute).toHaveBeenCalledTimes(1);
    expect([joined(['a', 'c']), joined(['a']), joined(['a', 'b'])]).toEqual(['a,c', 'a', 'a,b']);
    expect(compute).toHaveBeenCalledTimes(4);
  });
});
