import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { type AttentionShape, packedAttention } from '../../../main/tensor/ops/attention.ts';
import { openTestBackends, tensorsLeft } from '../../backends.ts';
import { gradientError, randomTensor } from './finite-differences.ts';

const SHAPE: AttentionShape = { numHeads: 4, numKvHeads: 2, headDim: 8, scale: 8 ** -0.5 };
/** A prompt of 3 with completions of 2 and 1, a sequence of 2 of its own, and one of 3 that sees all of itself. */
const SEGMENTS = [
  [0, 3, 0, 0],
  [3, 2, 0, 3],
  [5, 1, 0, 3],
  [6, 2, 0, 0],
  [8, 3, 8, 3],
];
const N = 11;
/** Which tokens each one sees, by those segments. */
const WHOLE = [8, 9, 10];
const SEEN = [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4], [0, 1, 2, 5], [6], [6, 7], WHOLE, WHOLE, WHOLE];

const inputs = (scale: number): tf.Tensor2D[] => [
  tf.mul(scale, randomTensor<tf.Rank.R2>([N, 32], 1)),
  randomTensor<tf.Rank.R2>([N, 16], 2),
  randomTensor<tf.Rank.R2>([N, 16], 3),
];

/** Attention written out, query by query, in float64. */
function written(q: Float32Array, k: Float32Array, v: Float32Array): number[] {
  const out = new Array<number>(N * 32).fill(0);
  SEEN.forEach((seen, n) => {
    for (let head = 0; head < 4; head++) {
      const kv = Math.floor(head / 2) * 8;
      const dot = (m: number): number =>
        Array.from({ length: 8 }, (_, j) => (q[n * 32 + head * 8 + j] ?? 0) * (k[m * 16 + kv + j] ?? 0)).reduce(
          (a, b) => a + b,
        );
      const weights = seen.map((m) => Math.exp(dot(m) * SHAPE.scale));
      const sum = weights.reduce((a, b) => a + b);
      seen.forEach((m, i) => {
        for (let j = 0; j < 8; j++) {
          const at = n * 32 + head * 8 + j;
          out[at] = (out[at] ?? 0) + ((weights[i] ?? 0) / sum) * (v[m * 16 + kv + j] ?? 0);
        }
      });
    }
  });
  return out;
}

/** A prompt and completions of it, and which tokens each token sees. */
function sharedPrompt(prompt: number, completions: number, length: number): { table: number[][]; seen: number[][] } {
  const upTo = (start: number, end: number): number[] => Array.from({ length: end - start }, (_, i) => start + i);
  const starts = upTo(0, completions).map((i) => prompt + i * length);
  return {
    table: [[0, prompt, 0, 0], ...starts.map((start) => [start, length, 0, prompt])],
    seen: [
      ...upTo(0, prompt).map((n) => upTo(0, n + 1)),
      ...starts.flatMap((start) => upTo(start, start + length).map((n) => [...upTo(0, prompt), ...upTo(start, n + 1)])),
    ],
  };
}

/** The gradients of queries, keys and values, written out in float64. */
function writtenGradients(
  { q, k, v, dy }: Readonly<Record<'q' | 'k' | 'v' | 'dy', Float32Array>>,
  seen: readonly (readonly number[])[],
): readonly Float64Array[] {
  const [dQ, dK, dV] = [new Float64Array(q.length), new Float64Array(k.length), new Float64Array(v.length)];
  const eight = Array.from({ length: 8 }, (_, j) => j);
  const add = (to: Float64Array, at: number, value: number): void => {
    to[at] = (to[at] ?? 0) + value;
  };
  const dot = (a: Float32Array, at: number, b: Float32Array, bAt: number): number =>
    eight.reduce((sum, j) => sum + (a[at + j] ?? 0) * (b[bAt + j] ?? 0), 0);
  for (const [n, keys] of seen.entries())
    for (let head = 0; head < 4; head++) {
      const row = n * 32 + head * 8;
      const place = (m: number): number => m * 16 + Math.floor(head / 2) * 8;
      const weights = keys.map((m) => Math.exp(dot(q, row, k, place(m)) * SHAPE.scale));
      const mass = weights.reduce((a, b) => a + b);
      const gains = keys.map((m) => dot(dy, row, v, place(m)));
      const mean = weights.reduce((sum, weight, i) => sum + (weight / mass) * (gains[i] ?? 0), 0);
      keys.forEach((m, i) => {
        const probability = (weights[i] ?? 0) / mass;
        const slope = probability * ((gains[i] ?? 0) - mean) * SHAPE.scale;
        for (const j of eight) {
          add(dV, place(m) + j, probability * (dy[row + j] ?? 0));
          add(dK, place(m) + j, slope * (q[row + j] ?? 0));
          add(dQ, row + j, slope * (k[place(m) + j] ?? 0));
        }
      });
    }
  return [dQ, dK, dV];
}

describe.each(await openTestBackends())('packedAttention on $name', (backend) => {
  beforeAll(backend.use);
  const segments = (): tf.Tensor2D => tf.tensor2d(SEGMENTS, [SEGMENTS.length, 4], 'int32');
  const attend = (q: tf.Tensor2D, k: tf.Tensor2D, v: tf.Tensor2D): tf.Tensor2D =>
    packedAttention(q, k, v, segments(), SHAPE);

  it('attends causally within a segment and to the whole prefix, heads of a group sharing keys and values', () => {
    const [q, k, v] = inputs(4) as [tf.Tensor2D, tf.Tensor2D, tf.Tensor2D];
    const ours = attend(q, k, v).dataSync<'float32'>();
    const expected = written(q.dataSync<'float32'>(), k.dataSync<'float32'>(), v.dataSync<'float32'>());
    expect(Math.max(...expected.map((value, i) => Math.abs(value - (ours[i] ?? Number.NaN))))).toBeLessThan(1e-5);
  });

  it('has the gradients of finite differences', () => {
    expect(gradientError(attend, inputs(2))).toBeLessThan(2e-3);
  });

  it('gives the keys of a prompt the gradients of all rows of its many completions', () => {
    const { table, seen } = sharedPrompt(21, 12, 12);
    const tokens = seen.length;
    const [q, dy] = [1, 2].map((seed) => randomTensor<tf.Rank.R2>([tokens, 32], seed));
    const [k, v] = [3, 4].map((seed) => randomTensor<tf.Rank.R2>([tokens, 16], seed));
    const run = (...[a, b, c]: tf.Tensor[]): tf.Tensor =>
      packedAttention(
        a as tf.Tensor2D,
        b as tf.Tensor2D,
        c as tf.Tensor2D,
        tf.tensor2d(table, [table.length, 4], 'int32'),
        SHAPE,
      );
    const found = tf
      .grads(run)([q, k, v] as tf.Tensor[], dy as tf.Tensor)
      .map((grad) => grad.dataSync<'float32'>());
    const [qs, ks, vs, dys] = [q, k, v, dy].map((tensor) => (tensor as tf.Tensor).dataSync<'float32'>());
    const expected = writtenGradients(
      { q: qs, k: ks, v: vs, dy: dys } as Readonly<Record<'q' | 'k' | 'v' | 'dy', Float32Array>>,
      seen,
    );
    for (const [i, grad] of found.entries()) {
      const difference = grad.map((value, j) => Math.abs(value - (expected[i]?.[j] ?? Number.NaN)));
      expect(Math.max(...difference)).toBeLessThan(3e-5);
    }
  });

  it('handles scores far beyond the range of exp', () => {
    const [q, k, v] = inputs(1000) as [tf.Tensor2D, tf.Tensor2D, tf.Tensor2D];
    expect(attend(q, k, v).dataSync().every(Number.isFinite)).toBe(true);
  });

  it('leaves no tensors', () => {
    const tensors = inputs(1);
    const where = segments();
    const run = (): void => {
      const f = (...[q, k, v]: tf.Tensor[]): tf.Tensor =>
        packedAttention(q as tf.Tensor2D, k as tf.Tensor2D, v as tf.Tensor2D, where, SHAPE);
      tf.dispose(tf.grads(f)(tensors));
    };
    expect(tensorsLeft(run)).toBe(0);
  });
});
