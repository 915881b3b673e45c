import { describe, expect, it } from 'vitest';
import { together } from '../../../renderer/api/together.ts';

describe('together', () => {
  it('tells of all that came until the page comes to it, in order, and then of what comes next', () => {
    const later: (() => void)[] = [];
    const told: string[] = [];
    const tell = together((work) => later.push(work));
    tell(() => told.push('a'));
    tell(() => {
      told.push('b');
      tell(() => told.push('d'));
    });
    tell(() => told.push('c'));
    expect(later).toHaveLength(1);
    later.shift()?.();
    expect(told).toEqual(['a', 'b', 'c']);
    expect(later).toHaveLength(1);
    later.shift()?.();
    expect(told).toEqual(['a', 'b', 'c', 'd']);
  });
});
