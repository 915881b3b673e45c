import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { throttleByKey } from '../../../renderer/api/throttle-by-key.ts';

describe('throttleByKey', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function counted() {
    const done: string[] = [];
    const call = throttleByKey<string>(400, String, (key) => done.push(key));
    return { done, call };
  }

  it('runs at once, then once more for all calls in between', () => {
    const { done, call } = counted();
    for (let i = 0; i < 5; i++) call('a');
    expect(done).toEqual(['a']);
    vi.advanceTimersByTime(399);
    expect(done).toEqual(['a']);
    vi.advanceTimersByTime(1);
    expect(done).toEqual(['a', 'a']);
    vi.advanceTimersByTime(2000);
    expect(done).toEqual(['a', 'a']);
  });

  it('runs at once again after the interval, and separately per key', () => {
    const { done, call } = counted();
    call('a');
    call('b');
    vi.advanceTimersByTime(400);
    call('a');
    expect(done).toEqual(['a', 'b', 'a']);
  });
});
