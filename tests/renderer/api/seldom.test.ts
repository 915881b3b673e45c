import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { seldom } from '../../../renderer/api/seldom.ts';

describe('seldom', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function counted() {
    const done: string[] = [];
    const ask = seldom<string>(400, String, (key) => done.push(key));
    return { done, ask };
  }

  it('works at once, then once more for all that was asked for meanwhile', () => {
    const { done, ask } = counted();
    for (let i = 0; i < 5; i++) ask('a');
    expect(done).toEqual(['a']);
    vi.advanceTimersByTime(399);
    expect(done).toEqual(['a']);
    vi.advanceTimersByTime(1);
    expect(done).toEqual(['a', 'a']);
    vi.advanceTimersByTime(2000);
    expect(done).toEqual(['a', 'a']);
  });

  it('works at once again after a rest, and keeps keys apart', () => {
    const { done, ask } = counted();
    ask('a');
    ask('b');
    vi.advanceTimersByTime(400);
    ask('a');
    expect(done).toEqual(['a', 'b', 'a']);
  });
});
