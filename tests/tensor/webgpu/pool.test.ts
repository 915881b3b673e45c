import { describe, expect, it } from 'vitest';
import { BufferPool, roundedSize } from '../../../main/tensor/webgpu/pool.ts';

describe('BufferPool', () => {
  it('gives a buffer of the same rounded size again, the last one first', () => {
    const pool = new BufferPool();
    const [a, b] = [pool.add(1000), pool.add(1000)];
    pool.give(a, 0);
    pool.give(b, 0);
    expect(pool.take(900)?.id).toBe(b.id);
    expect(pool.take(1024)?.id).toBe(a.id);
    expect(pool.take(1000)).toBeNull();
    expect(pool).toMatchObject({ count: 2, bytes: 2048, usedBytes: 2048, peakBytes: 2048 });
  });

  it('keeps a buffer from uploads while commands that use it are still to be posted', () => {
    const pool = new BufferPool();
    pool.give(pool.add(256), 7);
    expect(pool.take(256, 7)).toBeNull();
    expect(pool.take(256, 8)).not.toBeNull();
  });

  it('counts its peak again from where it is asked to', () => {
    const pool = new BufferPool();
    const [large] = [pool.add(4096), pool.add(256)];
    pool.give(large, 0);
    pool.trim(1e9);
    expect(pool.peakBytes).toBe(4096 + 256);
    pool.restartPeak();
    expect(pool.peakBytes).toBe(256);
  });

  it('gives up the largest free buffers first, and no more than it must', () => {
    const pool = new BufferPool();
    const [small, large, used] = [pool.add(256), pool.add(4096), pool.add(4096)];
    pool.give(small, 0);
    pool.give(large, 0);
    expect(pool.trim(1)).toEqual([large.id]);
    expect(pool).toMatchObject({ count: 2, bytes: 256 + 4096, usedBytes: used.bytes });
    expect(pool.trim(1e9)).toEqual([small.id]);
    expect(pool.trim(1e9)).toEqual([]);
  });

  it('takes none of the buffers again that may not exist', () => {
    const pool = new BufferPool();
    const sound = pool.add(256);
    pool.confirm(pool.next);
    const [free, used, large] = [pool.add(256), pool.add(256), pool.add(4096)];
    pool.give(free, 0);
    expect(pool.doubt()).toEqual([free.id]);
    expect(pool.give(used, 0)).toBe(false);
    expect(pool.give(sound, 0)).toBe(true);
    expect(pool.take(256)?.id).toBe(sound.id);
    expect(pool.take(256)).toBeNull();
    expect(pool).toMatchObject({ count: 2, bytes: 256 + 4096, usedBytes: 256 + large.bytes });
  });

  it('gives up what has been free for long', () => {
    const pool = new BufferPool();
    const [old, recent] = [pool.add(256), pool.add(512)];
    pool.give(old, 3);
    pool.give(recent, 9);
    expect(pool.dropStale(5)).toEqual([old.id]);
    expect(pool.take(512)?.id).toBe(recent.id);
  });
});

describe('roundedSize', () => {
  it('is at most an eighth more, and a multiple of 256', () => {
    for (const bytes of [1, 256, 257, 5000, 123_457, 10_000_001]) {
      const size = roundedSize(bytes);
      expect(size).toBeGreaterThanOrEqual(bytes);
      expect(size % 256).toBe(0);
      if (bytes > 2048) expect(size / bytes).toBeLessThanOrEqual(1.126);
    }
  });
});
