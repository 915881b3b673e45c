/** Keys and values in 16 bits: how far they move what attention gives, and which models have them. */
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, describe, expect, it } from 'vitest';
import type { ModelConfig } from '../../../main/model/config.ts';
import { openDecoding } from '../../../main/model/decoding.ts';
import { createAdapter, disposeAdapter } from '../../../main/model/lora.ts';
import { disposeModel, type Model } from '../../../main/model/model.ts';
import { registerDecodeRun } from '../../../main/tensor/ops/decode-step.ts';
import type { PrefixKv } from '../../../main/tensor/ops/kv-cache.ts';
import { WEBGPU_BACKEND } from '../../../main/tensor/webgpu/backend.ts';
import { openGpuDecodeRun } from '../../../main/tensor/webgpu/decode.ts';
import type { KvFormat } from '../../../main/tensor/webgpu/kernels/kv-pack.ts';
import { openGpuKvCache } from '../../../main/tensor/webgpu/kv-cache.ts';
import { closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import { makeModel } from '../../../main/trainer/jobs/gpu-report/shapes.ts';
import { SMALL } from '../../small-config.ts';
import { randomTensor } from '../ops/finite-differences.ts';
import { opened, openGpuForTest } from './open.ts';

const gpu = await openGpuForTest();
const SHAPE = { numHeads: 4, numKvHeads: 2, headDim: 16, scale: 0.25 };
const [ROWS, PROMPT, STEPS] = [3, 20, 6];

/** What three rows see in six steps after a prompt that they share; values are in ±`size`. */
function attended(format: KvFormat, size = 1): Float32Array {
  const backend = opened(gpu);
  const random = (rows: number, heads: number, seed: number): tf.Tensor2D =>
    randomTensor<tf.Rank.R2>([rows, heads * SHAPE.headDim], seed);
  const prefix = [{ k: random(PROMPT, 2, 1), v: tf.tidy(() => tf.mul(random(PROMPT, 2, 2), size)) as tf.Tensor2D }];
  const prompts = Array.from({ length: ROWS }, () => ({ start: 0, length: PROMPT, sequence: 0 }));
  const cache = openGpuKvCache(backend, prefix, prompts, STEPS, SHAPE, format);
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

const CONFIG: ModelConfig = {
  ...SMALL,
  tieWordEmbeddings: true,
};

/** The logits after one token of two rows, whose prompt's keys and values no 16 bits hold exactly. */
function logits(model: Model): Float32Array {
  const random = (seed: number): tf.Tensor2D => randomTensor<tf.Rank.R2>([PROMPT, 2 * SHAPE.headDim], seed);
  const rows = Array.from({ length: 2 }, () => ({ start: 0, length: PROMPT, sequence: 0 }));
  const decoding = openDecoding(model, null, { kv: [{ k: random(1), v: random(2) }], states: new Map() }, rows, STEPS);
  const out = decoding.step([5, 9]);
  const values = Float32Array.from(out.dataSync());
  out.dispose();
  decoding.dispose();
  return values;
}

afterAll(async () => {
  if (gpu !== null) await closeWebGpuBackend(gpu);
});

describe.runIf(gpu !== null)('a cache that has no room', () => {
  /** Bytes of the buffers in use; those that lie free are given up. */
  function usedBytes(): number {
    const { gpu: device } = opened(gpu);
    device.restartPeak();
    return device.counts.bytes;
  }

  /** Opens with 4 KiB of room, then with 4 more at a time, until it fits; gives the tries. */
  function triesUntilOpen(count: number, open: (prefix: readonly PrefixKv[]) => { dispose(): void }): number {
    const { gpu: device } = opened(gpu);
    const used = usedBytes();
    for (let tries = 1; ; tries++) {
      const prefix = layers(count);
      device.budgetBytes = usedBytes() + 4096 * tries;
      try {
        open(prefix).dispose();
        return tries;
      } catch (error) {
        expect(error).toMatchObject({ code: 'OUT_OF_MEMORY' });
      } finally {
        device.budgetBytes = null;
        tf.dispose(prefix.map(({ k, v }) => [k, v]));
        expect(usedBytes()).toBe(used);
      }
    }
  }

  const layers = (count: number) =>
    Array.from({ length: count }, (_, i) => ({
      k: randomTensor<tf.Rank.R2>([PROMPT, 2 * SHAPE.headDim], i),
      v: randomTensor<tf.Rank.R2>([PROMPT, 2 * SHAPE.headDim], 10 + i),
    }));
  const prompts = Array.from({ length: ROWS }, () => ({ start: 0, length: PROMPT, sequence: 0 }));

  it('gives back what it took before', () => {
    const tries = triesUntilOpen(6, (prefix) => openGpuKvCache(opened(gpu), prefix, prompts, STEPS, SHAPE, 'f32'));
    expect(tries).toBeGreaterThan(3);
  });

  it("needs room for one layer's prompts besides what rows write", () => {
    const prefix = layers(6);
    const { gpu: device } = opened(gpu);
    const [own, copied] = [2 * ROWS * STEPS * 32, 2 * PROMPT * 32].map((numbers) => 4 * numbers) as [number, number];
    device.budgetBytes = usedBytes() + 6 * own + 1.5 * copied;
    openGpuKvCache(opened(gpu), prefix, prompts, STEPS, SHAPE, 'f32').dispose();
    device.budgetBytes = null;
  });

  it('gives back what the fused step packed before', () => {
    const model = makeModel({ name: 'test', config: CONFIG }, 32, 'float32');
    const lora = { r: 4, alpha: 4, targetModules: ['q_proj', 'up_proj'], useRslora: false };
    const adapter = createAdapter(model, lora, 1);
    expect(
      triesUntilOpen(1, (prefix) => openDecoding(model, adapter, { kv: prefix, states: new Map() }, prompts, STEPS)),
    ).toBeGreaterThan(3);
    disposeAdapter(adapter);
    disposeModel(model);
  });
});

describe.runIf(gpu !== null)('a cache in 16 bits', () => {
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

  it.each([
    ['the fused step', true],
    ['decoding op by op', false],
  ])('is a matter of the model, not of what was loaded before it, in %s', (_, fused) => {
    const backend = opened(gpu);
    registerDecodeRun(WEBGPU_BACKEND, (...run) => (fused ? openGpuDecodeRun(backend, ...run) : null));
    const shape = { name: 'test', config: CONFIG };
    const wide = makeModel(shape, 32, 'float32');
    const alone = logits(wide);
    const narrow = makeModel(shape, 32, 'stored');
    // The same weights: only the cache makes the difference.
    expect(logits(narrow)).not.toEqual(alone);
    expect(logits(wide)).toEqual(alone);
    disposeModel(wide);
    disposeModel(narrow);
  });
});
