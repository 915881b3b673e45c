/** Whether a GPU's matrix units compute what they should: WGSL's way to them is an experiment, and so are its drivers. */
import * as tf from '@tensorflow/tfjs-core';
import { randomStream } from '../../random.ts';
import { makeWeight, type WeightSource } from '../weights.ts';
import type { WebGpuBackend } from './backend.ts';
import { endsGpu } from './faults.ts';
import type { MatrixUnit } from './matrix-units.ts';

/** Rows of x for each kind of tile, with an edge. */
const ROWS = [5, 80];
const [K, N] = [256, 4096] as const;

/**
 * Of numbers in ±1 with weights in ±0.1, whose terms add up to about 6.4 regardless of sign: units are within a millionth
 * of that (product-units.ts). With eleven bits of x alone they would be off by 5e-4 somewhere.
 */
const MOST_DIFFERENCE = 1e-4;

const numbers = (count: number, seed: number, size: number): Float32Array<ArrayBuffer> => {
  const { next } = randomStream(seed);
  return Float32Array.from({ length: count }, () => size * (2 * next() - 1));
};

/** The upper halves of float32 numbers, as a file has bfloat16. */
function bfloat16(floats: Float32Array<ArrayBuffer>): WeightSource {
  const raw = Uint16Array.from(new Uint32Array(floats.buffer), (word) => word >>> 16);
  return {
    type: 'BF16',
    read: () => {
      throw new Error('Expected weights to be read as they are');
    },
    readPart: (first, count) => floats.slice(first, first + count),
    readRaw: (first, count) => Buffer.from(raw.slice(first, first + count).buffer),
  };
}

/**
 * Computes products with and without the units on the current backend, and does without where they differ or fail. Throws
 * where they take the GPU with them.
 */
export function checkMatrixUnits({ gpu }: WebGpuBackend): void {
  const { matrixUnit: unit } = gpu;
  if (unit === null) return;
  const right = tf.tidy((): boolean => {
    const source = bfloat16(numbers(K * N, 1, 0.1));
    const weights = (['stored', 'nf4'] as const).flatMap((precision) =>
      [true, false].map((transposed) => {
        const shape = transposed ? [N, K] : [K, N];
        return { weight: makeWeight(source, shape, precision) as tf.Tensor2D, transposed };
      }),
    );
    const inputs = ROWS.map((rows) => tf.tensor2d(numbers(rows * K, 2, 1), [rows, K]));
    const products = (used: MatrixUnit | null): Float32Array[] => {
      gpu.matrixUnit = used;
      return inputs.flatMap((x) =>
        weights.map(({ weight, transposed }) => tf.matMul(x, weight, false, transposed).dataSync<'float32'>()),
      );
    };
    try {
      const [units, plain] = [products(unit), products(null)];
      return units.every((product, i) => close(product, plain[i] ?? new Float32Array()));
    } catch (error) {
      if (endsGpu(error)) throw error;
      // A driver that can't compile or run them: the other kernels need nothing of the kind.
      return false;
    }
  });
  gpu.matrixUnit = right ? unit : null;
}

const close = (a: Float32Array, b: Float32Array): boolean =>
  a.every((value, i) => Math.abs(value - (b[i] ?? Number.NaN)) <= MOST_DIFFERENCE);
