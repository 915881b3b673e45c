import { describe, expect, it } from 'vitest';
import { v8Collector } from '../../../main/garbage.ts';
import { openCollection, openNewestCollection } from '../../../main/tensor/native/garbage.ts';

describe('openCollection', () => {
  it('collects, but not again within two seconds', () => {
    let [time, collections] = [0, 0];
    const collectGarbage = openCollection(
      () => {
        collections++;
      },
      () => time,
    );
    const collectedAt = [0, 1000, 2000, 3999, 4000, 9000].filter((at) => {
      const before = collections;
      time = at;
      collectGarbage();
      return collections > before;
    });
    expect(collectedAt).toEqual([2000, 4000, 9000]);
  });

  it("frees what only V8's collector can find", async () => {
    let lost: ArrayBuffer | null = new ArrayBuffer(64 * 2 ** 20);
    const held = process.memoryUsage().arrayBuffers;
    expect(lost.byteLength).toBeGreaterThan(0);
    lost = null;
    v8Collector()();
    // V8 sweeps buffers on a thread of its own.
    await expect.poll(() => process.memoryUsage().arrayBuffers).toBeLessThan(held - 60 * 2 ** 20);
  });
});

describe('openNewestCollection', () => {
  it('frees the arrays of a moment ago, but not again within a tenth of a second', async () => {
    let time = 0;
    const collectGarbage = openNewestCollection(() => time);
    const left = (): number => {
      let lost: ArrayBuffer | null = new ArrayBuffer(64 * 2 ** 20);
      const held = process.memoryUsage().arrayBuffers;
      expect(lost.byteLength).toBeGreaterThan(0);
      lost = null;
      return held - 60 * 2 ** 20;
    };
    const most = left();
    collectGarbage();
    expect(process.memoryUsage().arrayBuffers).toBeGreaterThan(most);
    time = 100;
    collectGarbage();
    await expect.poll(() => process.memoryUsage().arrayBuffers).toBeLessThan(most);
  });
});
