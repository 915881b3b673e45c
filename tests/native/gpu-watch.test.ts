import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watchGpus, watchOwnMemory } from '../../main/native/gpu-watch.ts';

const MIB = 2 ** 20;

describe('watching', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());
  const settle = () => new Promise((resolve) => setImmediate(resolve));

  it('answers at once with what it last heard, and asks again when that is old', async () => {
    let free = 20_000;
    const ask = vi.fn(async () => `RTX, 24000, ${free}, 550.54\n`);
    const gpus = watchGpus(ask);
    expect(gpus()).toEqual([]);
    await settle();
    expect(gpus()[0]?.freeBytes).toBe(20_000 * MIB);
    free = 10_000;
    vi.advanceTimersByTime(4000);
    gpus();
    expect(ask).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(2000);
    gpus();
    await settle();
    expect(gpus()[0]?.freeBytes).toBe(10_000 * MIB);
  });

  it('keeps the most that this process held', async () => {
    let used = 900;
    const held = watchOwnMemory(async () => `${process.pid}, ${used}\n`);
    held();
    await settle();
    used = 300;
    vi.advanceTimersByTime(6000);
    held();
    await settle();
    expect(held()).toEqual({ bytes: 300 * MIB, peakBytes: 900 * MIB });
  });

  it('does not ask a machine without the tool again for minutes', async () => {
    const ask = vi.fn(async () => Promise.reject(new Error('ENOENT')));
    const gpus = watchGpus(ask);
    gpus();
    await settle();
    vi.advanceTimersByTime(60_000);
    expect(gpus()).toEqual([]);
    expect(ask).toHaveBeenCalledTimes(1);
  });
});
