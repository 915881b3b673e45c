/** Reads that start before other work and are waited for after it. */
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import type { Gpu } from '../../../main/tensor/webgpu/gpu.ts';
import { closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import type { GpuBuffer } from '../../../main/tensor/webgpu/pool.ts';
import { Readback } from '../../../main/tensor/webgpu/readback.ts';
import { opened, openGpuForTest } from './open.ts';

const gpu = await openGpuForTest();

function filled(device: Gpu, value: number): GpuBuffer {
  const buffer = device.takeForUpload(256);
  device.upload(buffer, Int32Array.of(value, 1, 2, 3).buffer);
  return buffer;
}

describe.runIf(gpu !== null)('a read that has started', () => {
  afterAll(() => closeWebGpuBackend(opened(gpu)));

  it('brings what was there when it started, of several that end in any order', () => {
    const { gpu: device } = opened(gpu);
    const buffer = filled(device, 7);
    const first = device.startRead(buffer, 8);
    device.clear(buffer, 0, 1);
    const second = device.startRead(buffer, 8);
    device.give(buffer);
    device.give(filled(device, 9));
    expect([...new Int32Array(second.wait())]).toEqual([0, 1]);
    expect([...new Int32Array(first.wait())]).toEqual([7, 1]);
  });

  it('reports a fault of what was asked for since, once, and leaves its buffers to be used again', () => {
    const { gpu: device } = opened(gpu);
    const buffer = filled(device, 7);
    device.finish();
    const { buffers } = device.counts;
    const read = device.startRead(buffer, 4);
    // A buffer into itself.
    device.copy(buffer, 64, buffer, 0, 64);
    expect(() => read.wait()).toThrow(expect.objectContaining({ code: 'GPU_FAILED' }));
    expect([...new Int32Array(device.startRead(buffer, 4).wait())]).toEqual([7]);
    device.give(buffer);
    device.finish();
    expect(device.take(256).id).toBe(buffer.id);
    expect(device.counts.buffers).toBe(buffers);
  });

  it('reports a device that was lost meanwhile', async () => {
    const own = opened(await openGpuForTest());
    const read = own.gpu.startRead(filled(own.gpu, 7), 4);
    own.gpu.lose();
    expect(() => read.wait()).toThrow(expect.objectContaining({ code: 'GPU_LOST' }));
    await closeWebGpuBackend(own);
  });
});

/** A device that makes buffers and copies nothing. */
function fakeDevice() {
  vi.stubGlobal('GPUBufferUsage', { MAP_READ: 1, COPY_DST: 8 });
  vi.stubGlobal('GPUMapMode', { READ: 1 });
  const sizes: number[] = [];
  const device = {
    createBuffer: ({ size }: GPUBufferDescriptor) => {
      sizes.push(size);
      return {
        size,
        mapAsync: async () => undefined,
        getMappedRange: () => new ArrayBuffer(4),
        unmap: () => undefined,
      };
    },
    createCommandEncoder: () => ({ copyBufferToBuffer: () => undefined, finish: () => undefined }),
    queue: { submit: () => undefined },
  };
  return { sizes, device: device as unknown as GPUDevice };
}

describe('Readback', () => {
  afterEach(() => void vi.unstubAllGlobals());

  it('uses the buffer of a read that is done, and of one that was cancelled, for the next', async () => {
    const { sizes, device } = fakeDevice();
    const readback = new Readback(device);
    const range = { offset: 0, bytes: 4 };
    for (let read = 0; read < 6; read += 2) {
      readback.start(read, {} as GPUBuffer, range);
      await readback.finish(read);
      readback.start(read + 1, {} as GPUBuffer, range);
      readback.cancel(read + 1);
    }
    expect(sizes).toHaveLength(1);
    await expect(readback.finish(0)).rejects.toThrow('Expected read 0 to have started');
  });
});
