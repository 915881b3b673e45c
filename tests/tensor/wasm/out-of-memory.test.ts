/** Kernels of the wasm backend whose n-th allocation fails: none of them keeps what it made before. */
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BraidError } from '../../../main/errors.ts';
import { closeWasmBackend } from '../../../main/tensor/wasm/boot.ts';
import type { Allocator } from '../../../main/tensor/wasm/heap.ts';
import type { WasmRuntime } from '../../../main/tensor/wasm/runtime.ts';
import { noise, openForTest } from './open.ts';

let runtime: WasmRuntime;
beforeAll(async () => {
  runtime = await openForTest(1);
});
afterAll(() => closeWasmBackend(runtime));

/** Runs `kernel` with no allocation, then one, and so on, until it succeeds; gives the tries. */
function triesUntilDone(kernel: () => tf.Tensor | tf.Tensor[]): number {
  const { wasm } = runtime.backend as unknown as { wasm: Allocator };
  const malloc = wasm._malloc;
  const before = runtime.heap.bytesInUse();
  for (let tries = 1; ; tries++) {
    let left = tries - 1;
    wasm._malloc = (bytes) => {
      if (left-- > 0) return malloc(bytes);
      throw new BraidError('OUT_OF_MEMORY', 'no room');
    };
    try {
      tf.dispose(kernel());
      return tries;
    } catch (error) {
      expect(error).toMatchObject({ code: 'OUT_OF_MEMORY' });
    } finally {
      wasm._malloc = malloc;
      expect(runtime.heap.bytesInUse()).toBe(before);
    }
  }
}

const matrix = (rows: number, columns: number, seed: number): tf.Tensor2D =>
  tf.tensor2d(noise(rows * columns, seed), [rows, columns]);

describe('kernels that run out of memory', () => {
  it('give back the result of a product', () => {
    const [a, b, bias] = [matrix(50, 30, 1), matrix(50, 70, 2), tf.ones([70])];
    const product = { a, b, transposeA: true };
    // The result and what is packed; with a bias and an activation, two results more.
    expect(triesUntilDone(() => tf.matMul(a, b, true))).toBe(3);
    expect(triesUntilDone(() => tf.fused.matMul({ ...product, bias, activation: 'relu' }))).toBe(5);
    tf.dispose([a, b, bias]);
  });

  it('give back all results of a fused kernel', () => {
    const [x, dy, a, dLow] = [matrix(40, 64, 1), matrix(40, 96, 2), matrix(4, 64, 3), matrix(40, 4, 4)];
    const given = { dy, x, a, dLow };
    const run = (): tf.Tensor[] => tf.engine().runKernel('LoraLinearGradAdapter', given, { scaling: 2 }) as tf.Tensor[];
    expect(triesUntilDone(run)).toBeGreaterThan(3);
    tf.dispose(given);
  });
});
