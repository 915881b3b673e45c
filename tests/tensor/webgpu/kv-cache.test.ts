/** Keys and values in 16 bits: how far they move what attention gives. */
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, describe, expect, it } from 'vitest';
import type { KvFormat } from '../../../main/tensor/webgpu/kernels/decode-attention.ts';
import { openGpuKvCache } from '../../../main/tensor/webgpu/kv-cache.ts';
import { closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import { randomTensor } from '../ops/finite-differences.ts';
import { opened, openGpuForTest } from './open.ts';

const gpu = await openGpuForTest();
const SHAPE = { numHeads: 4, numKvHeads: 2, headDim: 16, scale: 0.25 };
const [ROWS, PROMPT, STEPS] = [3, 20, 6];

/** What three rows see in six steps after a prompt that they share; values are in ±`size`. */
function attended(format: KvFormat, size = 1): Float32Array {
  const backend = opened(gpu);
  backend.cacheFormat = format;
  const random = (rows: number, heads: number, seed: number): tf.Tensor2D =>
    randomTensor<tf.Rank.R2>([rows, heads * SHAPE.headDim], seed);
  const prefix = [{ k: random(PROMPT, 2, 1), v: tf.tidy(() => tf.mul(random(PROMPT, 2, 2), size)) as tf.Tensor2D }];
  const prompts = Array.from({ length: ROWS }, () => ({ start: 0, length: PROMPT }));
  const cache = openGpuKvCache(backend, prefix, prompts, STEPS, SHAPE);
  let last = new Float32Array();
  for (let step = 0; step < STEPS; step++) {
    const [q, k, v] = [random(ROWS, 4, 10 + step), random(ROWS, 2, 20 + step), random(ROWS, 2, 30 + step)];
    const out = cache.attend(0, q, k, v);
    last = Float32Array.from(out.dataSync());
    tf.dispose([q, k, v, out]);
    cache.advance();
  }
  cache.dispose();
  return last;
}

describe.runIf(gpu !== null)('a cache in 16 bits', () => {
  afterAll(() => closeWebGpuBackend(opened(gpu)));

  it("moves attention over numbers in ±1 by at most 0.0005, and isn't one in 32", () => {
    const [half, full] = [attended('f16'), attended('f32')];
    const differences = full.map((value, i) => Math.abs(value - (half[i] ?? Number.NaN)));
    expect(Math.max(...differences)).toBeLessThan(5e-4);
    expect(Math.max(...differences)).toBeGreaterThan(1e-6);
  });

  it('holds the largest number of 16 bits in place of a larger one, which would be infinite', () => {
    const seen = attended('f16', 1e6);
    expect(seen.every(Number.isFinite)).toBe(true);
    expect(Math.max(...seen.map(Math.abs))).toBeLessThanOrEqual(65504);
  });
});
