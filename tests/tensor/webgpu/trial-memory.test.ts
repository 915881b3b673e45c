import { describe, expect, it } from 'vitest';
import { closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import { trialAllocation } from '../../../main/tensor/webgpu/trial-memory.ts';
import { opened, openGpuForTest } from './open.ts';

/** A device with so many bytes. */
function deviceOf(bytes: number) {
  let free = bytes;
  return async (piece: number): Promise<boolean> => {
    if (piece > free) return false;
    free -= piece;
    return true;
  };
}

describe('trialAllocation', () => {
  it('finds all but a part of the smallest piece', async () => {
    expect(await trialAllocation(256, 1e6, deviceOf(1000))).toBe(992);
    expect(await trialAllocation(256, 1e6, deviceOf(10))).toBe(0);
  });

  it('stops at the most that is wanted', async () => {
    expect(await trialAllocation(256, 700, deviceOf(1e6))).toBe(672);
  });
});

const gpu = await openGpuForTest();

describe.runIf(gpu !== null)('Gpu.room', () => {
  it('takes and gives back', async () => {
    const device = opened(gpu).gpu;
    expect(device.room(128 * 2 ** 20)).toBe(128 * 2 ** 20);
    expect(device.room(128 * 2 ** 20)).toBe(128 * 2 ** 20);
    await closeWebGpuBackend(opened(gpu));
  });
});
