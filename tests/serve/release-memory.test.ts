import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openMemoryRelease } from '../../main/serve/release-memory.ts';

describe('openMemoryRelease', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('collects once, a while after the last large message, and not for small ones', async () => {
    const collect = vi.fn(async () => undefined);
    const release = openMemoryRelease(collect);
    release(2 ** 20);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(collect).not.toHaveBeenCalled();
    release(90 * 2 ** 20);
    await vi.advanceTimersByTimeAsync(1500);
    release(90 * 2 ** 20);
    await vi.advanceTimersByTimeAsync(1500);
    expect(collect).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1000);
    expect(collect).toHaveBeenCalledTimes(1);
  });

  it("reaches V8's collector and leaves no gc() behind for other code", async () => {
    vi.useRealTimers();
    openMemoryRelease();
    expect((globalThis as { gc?: unknown }).gc).toBeUndefined();
  });
});
