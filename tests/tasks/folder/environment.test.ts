import { describe, expect, it } from 'vitest';
import { replay, withRewards } from '../../../main/tasks/folder/environment.ts';
import type { TaskRecord } from '../../../main/tasks/task.ts';

/** Nothing is played again. */
const none = { hasTools: false } as unknown as Parameters<typeof replay>[0];

describe('withRewards', () => {
  it('adds up components, also those by names that every object has', () => {
    const first = withRewards({ a: 1 }, { constructor: 2, toString: 0.5 });
    expect(withRewards(first, { constructor: 2 })).toEqual({ a: 1, constructor: 4, toString: 0.5 });
    expect(withRewards(first, null)).toEqual(first);
  });
});

describe('replay', () => {
  it('counts a component that no step gave as 0, whatever it is called', () => {
    const answer = { record: {} as TaskRecord, completion: '', tokens: 1, finish: 'stop' as const };
    const outcome = { components: { a: 1 }, failure: null };
    expect(replay(none, ['a', 'b', 'valueOf'], [{ ...answer, outcome }])).toEqual([
      { kind: 'numbers', numbers: [1, 0, 0] },
    ]);
  });
});
