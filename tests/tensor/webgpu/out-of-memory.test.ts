/** Kernels on a GPU with too little memory: none of them keeps what it took before it ran out. */
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, describe, expect, it } from 'vitest';
import type { Matrix } from '../../../main/tensor/webgpu/kernels/matrix.ts';
import { product } from '../../../main/tensor/webgpu/kernels/product.ts';
import { unitsProduct } from '../../../main/tensor/webgpu/kernels/product-by-units.ts';
import { closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import type { GpuBuffer } from '../../../main/tensor/webgpu/pool.ts';
import { randomTensor } from '../ops/finite-differences.ts';
import { opened, openGpuForTest } from './open.ts';
import { NVIDIA } from './units.ts';

const gpu = await openGpuForTest();

type Tensors = Readonly<Record<string, tf.Tensor>>;

/** Bytes of the buffers in use; those that lie free are given up. */
function usedBytes(): number {
  const { gpu: device } = opened(gpu);
  device.restartPeak();
  return device.counts.bytes;
}

/** Runs with 256 bytes of room, then with as much more at a time, until it fits; gives the tries. */
function triesUntilDone(make: () => Tensors, run: (given: Tensors) => tf.Tensor | tf.Tensor[]): number {
  const { gpu: device } = opened(gpu);
  const used = usedBytes();
  for (let tries = 1; ; tries++) {
    const given = make();
    device.budgetBytes = usedBytes() + 256 * tries;
    try {
      tf.dispose(run(given));
      return tries;
    } catch (error) {
      expect(error).toMatchObject({ code: 'OUT_OF_MEMORY' });
    } finally {
      device.budgetBytes = null;
      // Inputs too: a reference that a kernel left behind would keep them.
      tf.dispose(given);
      expect(usedBytes()).toBe(used);
    }
  }
}

const matrix = (rows: number, columns: number, seed: number): tf.Tensor2D =>
  randomTensor<tf.Rank.R2>([rows, columns], seed);

describe.runIf(gpu !== null)('kernels that run out of memory', () => {
  afterAll(() => closeWebGpuBackend(opened(gpu)));

  it('give back what they made for a linear layer under an adapter', () => {
    const make = (): Tensors => ({
      dy: matrix(9, 24, 1),
      x: matrix(9, 32, 2),
      a: matrix(4, 32, 3),
      dLow: matrix(9, 4, 4),
    });
    const run = (given: Tensors) =>
      tf.engine().runKernel('LoraLinearGradAdapter', { ...given }, { scaling: 2 }) as tf.Tensor[];
    expect(triesUntilDone(make, run)).toBeGreaterThan(3);
  });

  it('give back what they made, and what they share, for log-softmax', () => {
    const make = (): Tensors => ({
      hidden: matrix(9, 32, 1),
      weight: matrix(50, 32, 2),
      targets: tf.zeros([9], 'int32'),
    });
    const run = (given: Tensors) =>
      tf.engine().runKernel('SelectiveLogSoftmax', { ...given }, { temperature: 1 }) as tf.Tensor[];
    expect(triesUntilDone(make, run)).toBeGreaterThan(3);
  });

  /** Buffers of so many floats, for products whose numbers don't matter. */
  function withBuffers(floats: readonly number[], use: (...buffers: GpuBuffer[]) => void): void {
    const { gpu: device } = opened(gpu);
    const buffers = floats.map((count) => device.take(4 * count));
    try {
      use(...buffers);
    } finally {
      device.budgetBytes = null;
      for (const buffer of buffers) device.give(buffer);
    }
  }

  /** Runs `work` with so many bytes of room, which aren't enough. */
  function refusedWith(room: number, work: () => void): void {
    const used = usedBytes();
    opened(gpu).gpu.budgetBytes = used + room;
    expect(work).toThrow('budget');
    expect(usedBytes()).toBe(used);
  }

  it('give back the slices of a product on matrix units', () => {
    const [m, k, n] = [64, 1024, 64];
    withBuffers([m * k, (n * k) / 2, m * n], (x, w, out) => {
      const weights: Matrix[] = [{ buffer: w as GpuBuffer, format: 'bf16', lines: n, length: k, transposed: true }];
      const call = { x: x as GpuBuffer, m, weights, out: out as GpuBuffer, place: { columns: n, first: 0 } };
      // Four slices fit, the maxima besides them don't.
      refusedWith(4 * 4 * m * n + 256, () => unitsProduct(opened(gpu), NVIDIA, { ...call, epilogue: 'store' }));
    });
  });

  it('give back the columns of a product by a matrix in parts', () => {
    const [m, k, n] = [4, 8192, 8];
    withBuffers([m * k, k * n, m * n], (x, w, out) => {
      const plain = { format: 'f32', transposed: false } as const;
      const part = { ...plain, buffer: w as GpuBuffer, lines: k, length: n };
      const a: Matrix = { ...plain, buffer: x as GpuBuffer, lines: m, length: k };
      // The columns fit, the slices besides them don't.
      refusedWith(4 * m * k, () => product(opened(gpu), a, { ...part, parts: [part] }, out as GpuBuffer));
    });
  });
});
