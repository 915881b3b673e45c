import { describe, expect, it } from 'vitest';
import { batchNotifications } from '../../../renderer/api/batch-notifications.ts';

describe('batchNotifications', () => {
  it('delivers everything collected so far in order, then what comes next', () => {
    const later: (() => void)[] = [];
    const delivered: string[] = [];
    const notify = batchNotifications((work) => later.push(work));
    notify(() => delivered.push('a'));
    notify(() => {
      delivered.push('b');
      notify(() => delivered.push('d'));
    });
    notify(() => delivered.push('c'));
    expect(later).toHaveLength(1);
    later.shift()?.();
    expect(delivered).toEqual(['a', 'b', 'c']);
    expect(later).toHaveLength(1);
    later.shift()?.();
    expect(delivered).toEqual(['a', 'b', 'c', 'd']);
  });
});
