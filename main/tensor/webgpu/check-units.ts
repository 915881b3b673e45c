/** Whether a GPU's matrix units compute what they should: WGSL's way to them is an experiment, and so are its drivers. */
import * as tf from '@tensorflow/tfjs-core';
import { randomStream } from '../../random.ts';
import { computedIn, registerBfloat16 } from '../compute-dtype.ts';
import { runOp } from '../portable.ts';
import { makeWeight, type WeightSource } from '../weights.ts';
import { WEBGPU_BACKEND, type WebGpuBackend } from './backend.ts';
import { endsGpu } from './faults.ts';

/** Rows of x and columns of weights for each kind of tile, with edges, and as large as units take. */
const [FEW, WIDE] = [5, 4096];
const [MANY, NARROW] = [80, 328];
const [K, RANK] = [256, 8];

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

/** A prompt of 40 tokens and a completion of it, for two heads on one: blocks that are full and others. */
const TABLE = [0, 40, 0, 0, 40, 30, 0, 40];
const ATTENTION = { numHeads: 2, numKvHeads: 1, headDim: 64, scale: 1 / 8 } as const;
const TOKENS = 70;

/** Of the largest number: factors are rounded to eleven bits. */
const ATTENTION_DIFFERENCE = 1e-2;

/**
 * Computes products and attention with and without the units on the current backend, and does without, in what differs
 * or fails. Throws where they take the GPU with them.
 */
export function checkMatrixUnits({ gpu }: WebGpuBackend): void {
  const { matrixUnit: unit } = gpu;
  if (unit === null) return;
  /** Whether what is computed twice is the same, up to so much: a difference, or one of the largest number. */
  const right = (open: () => () => Float32Array[], most: (plain: Float32Array) => number): boolean =>
    tf.tidy(() => {
      try {
        const results = open();
        const [byUnits, plain] = [unit, null].map((used) => {
          gpu.matrixUnit = used;
          return results();
        }) as [Float32Array[], Float32Array[]];
        return plain.every((expected, i) => {
          const allowed = most(expected);
          return expected.every((value, j) => Math.abs(value - (byUnits[i]?.[j] ?? Number.NaN)) <= allowed);
        });
      } catch (error) {
        if (endsGpu(error)) throw error;
        // A driver that can't compile or run them: the other kernels need nothing of the kind.
        return false;
      }
    });
  const used = right(products, () => MOST_DIFFERENCE) ? unit : null;
  gpu.attentionByUnits =
    used !== null &&
    right(attention, (plain) => ATTENTION_DIFFERENCE * plain.reduce((a, b) => Math.max(a, Math.abs(b)), 0));
  gpu.matrixUnit = used;
}

/** With weights of 16 and of 4 bits: alone where there are few rows, else of a layer under an adapter. */
function products(): () => Float32Array[] {
  const source = bfloat16(numbers(K * WIDE, 1, 0.1));
  const random = (rows: number, columns: number, seed: number, size: number): tf.Tensor2D =>
    tf.tensor2d(numbers(rows * columns, seed, size), [rows, columns]);
  const [few, many, low] = [random(FEW, K, 2, 1), random(MANY, K, 2, 1), random(MANY, RANK, 3, 1)];
  const [a, b, across] = [random(RANK, K, 4, 0.1), random(NARROW, RANK, 5, 0.1), random(RANK, NARROW, 5, 0.1)];
  const weights = (['stored', 'nf4'] as const).map((precision) => {
    const of = (lines: number, length: number) => makeWeight(source, [lines, length], precision) as tf.Tensor2D;
    return { wide: of(WIDE, K), wideAcross: of(K, WIDE), narrow: of(NARROW, K), narrowAcross: of(K, NARROW) };
  });
  return () =>
    weights
      .flatMap(({ wide, wideAcross, narrow, narrowAcross }) => [
        tf.matMul(few, wide, false, true),
        tf.matMul(few, wideAcross),
        runOp<tf.Tensor>('LoraLinear', { x: many, weight: narrow, a, b }, { scaling: 1 }),
        runOp<tf.Tensor>('LoraLinearGradX', { dy: many, dLow: low, a: across, weight: narrowAcross }),
      ])
      .map((x) => x.dataSync<'float32'>());
}

/** As runs in bfloat16 compute it, with its gradients. */
function attention(): () => Float32Array[] {
  const { numHeads, numKvHeads, headDim } = ATTENTION;
  const [q, dy, k, v] = [numHeads, numHeads, numKvHeads, numKvHeads].map((heads, i) =>
    tf.tensor2d(numbers(TOKENS * heads * headDim, i + 1, 1), [TOKENS, heads * headDim]),
  ) as [tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor];
  const inputs = { q, k, v, segments: tf.tensor2d(TABLE, [TABLE.length / 4, 4], 'int32') };
  registerBfloat16(WEBGPU_BACKEND, null);
  return () =>
    computedIn('bfloat16', () => {
      const [out, lse] = runOp<tf.Tensor[]>('PackedAttention', inputs, ATTENTION) as [tf.Tensor, tf.Tensor];
      const gradients = runOp<tf.Tensor[]>('PackedAttentionGrad', { ...inputs, dy, out, lse }, ATTENTION);
      return [out, ...gradients].map((x) => x.dataSync<'float32'>());
    });
}
