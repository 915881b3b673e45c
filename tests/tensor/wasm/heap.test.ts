import * as tf from '@tensorflow/tfjs-core';
import { afterEach, describe, expect, it } from 'vitest';
import { BraidError } from '../../../main/errors.ts';
import { closeWasmBackend } from '../../../main/tensor/wasm/boot.ts';
import { CACHE_LINE } from '../../../main/tensor/wasm/heap.ts';
import type { WasmRuntime } from '../../../main/tensor/wasm/runtime.ts';
import { openForTest } from './open.ts';

let runtime: WasmRuntime;
afterEach(() => closeWasmBackend(runtime));

describe('the heap', () => {
  it('throws OUT_OF_MEMORY with what to lower, for one tensor and for the whole', async () => {
    runtime = await openForTest(1);
    const { heap } = runtime;
    for (const bytes of [2 ** 31, 4294000000, 2 ** 32 + 64]) {
      const error = thrownBy(() => heap.malloc(bytes));
      expect(error).toMatchObject({ code: 'OUT_OF_MEMORY', remedy: expect.stringMatching(/num_generations/) });
      expect(error).toHaveProperty('message', expect.stringContaining(`${bytes} bytes`));
    }
    const blocks: number[] = [];
    const error = thrownBy(() => {
      for (;;) blocks.push(heap.malloc(2 ** 29));
    });
    expect(error).toMatchObject({
      code: 'OUT_OF_MEMORY',
      message: expect.stringContaining(`${heap.bytesInUse()} bytes`),
    });
    expect(blocks.length).toBeGreaterThanOrEqual(6);
    expect(Math.min(...blocks)).toBeGreaterThan(0);
    for (const address of blocks) heap.free(address);
    // The heap still serves after a refusal.
    expect(tf.tidy(() => tf.sum(tf.ones([1000])).dataSync()[0])).toBe(1000);
  });

  it('throws when tfjs itself allocates, and no tensor aliases address 0', async () => {
    runtime = await openForTest(1);
    expect(() => runtime.heap.output([2 ** 29], 'float32')).toThrow(BraidError);
    const tensor = tf.tensor1d([1, 2, 3]);
    expect(runtime.heap.pointer(tensor)).toBeGreaterThan(0);
    tensor.dispose();
  });

  it('begins blocks of a cache line and more with one, and takes them back', async () => {
    runtime = await openForTest(1);
    const { heap } = runtime;
    const before = heap.bytesInUse();
    const blocks = [64, 65, 100, 4000, 12, 1 << 20].map((bytes) => heap.malloc(bytes));
    expect(blocks.map((address) => address % CACHE_LINE)).toEqual([0, 0, 0, 0, expect.any(Number), 0]);
    for (const address of blocks) heap.free(address);
    expect(heap.bytesInUse()).toBe(before);
    const tensors = Array.from({ length: 9 }, (_, i) => tf.ones([100 + i]));
    expect(tensors.map((tensor) => heap.pointer(tensor) % CACHE_LINE)).toEqual(tensors.map(() => 0));
    tf.dispose(tensors);
  });

  it('counts what tensors hold', async () => {
    runtime = await openForTest(1);
    const before = runtime.heap.bytesInUse();
    const tensor = tf.ones([1000]);
    expect(runtime.heap.bytesInUse()).toBe(before + 4000);
    tensor.dispose();
    expect(runtime.heap.bytesInUse()).toBe(before);
  });
});

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}
