/** What plans say of texts beyond a sliding window, compared with what the portable backend holds. */
import '@tensorflow/tfjs-backend-cpu';
import * as tf from '@tensorflow/tfjs-core';
import '../../../main/tensor/gradients.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { openDecoding } from '../../../main/model/decoding.ts';
import { disposeModel } from '../../../main/model/model.ts';
import { gradients } from '../../../main/tensor/backward.ts';
import { windowedAttention } from '../../../main/tensor/ops/windowed-attention.ts';
import { scoreBytes } from '../../../main/trainer/memory/budget.ts';
import { cacheBytes } from '../../../main/trainer/memory/plan.ts';
import { tinyModel } from '../../model/tiny.ts';

beforeAll(async () => void (await tf.setBackend('cpu')));

interface Data {
  readonly bytes: number;
}

/** The most bytes of tensors that exist at a time during `work`, those before it left out. */
function peakBytes(work: () => void): number {
  const { state } = tf.engine() as unknown as { readonly state: { tensorInfo: WeakMap<object, Data> } };
  const before = state.tensorInfo;
  let [live, peak] = [0, 0];
  state.tensorInfo = new (class extends WeakMap<object, Data> {
    override get = (id: object): Data | undefined => super.get(id) ?? before.get(id);
    override has = (id: object): boolean => super.has(id) || before.has(id);
    override set(id: object, data: Data): this {
      live += data.bytes;
      peak = Math.max(peak, live);
      return super.set(id, data);
    }
    override delete(id: object): boolean {
      live -= super.get(id)?.bytes ?? 0;
      return super.delete(id) || before.delete(id);
    }
  })();
  try {
    work();
  } finally {
    state.tensorInfo = before;
  }
  return peak;
}

describe('scoreBytes', () => {
  const [prompt, own, heads] = [90, 60, 8];
  const config = { numHeads: heads, window: 64 };

  it('has room for the scores that a gradient holds beyond a window, and not for twice as many', () => {
    const segments = tf.tensor2d([0, prompt, 0, 0, prompt, own, 0, prompt], [2, 4], 'int32');
    const [q, k, v] = [heads, 2, 2].map((many) => tf.randomUniform([prompt + own, many * 2])) as [
      tf.Tensor2D,
      tf.Tensor2D,
      tf.Tensor2D,
    ];
    const shape = { numHeads: heads, numKvHeads: 2, headDim: 2, scale: 1, window: config.window };
    const peak = peakBytes(() => {
      const { value, grads } = gradients(() => tf.sum(windowedAttention(q, k, v, segments, shape)), [q, k, v]);
      tf.dispose([value, ...(grads as tf.Tensor[])]);
    });
    const planned = scoreBytes(config, { promptTokens: prompt, completionTokens: own }, 'wasm');
    // Inputs and their gradients are counted elsewhere.
    expect(peak).toBeLessThan(1.1 * planned);
    expect(peak).toBeGreaterThan(0.5 * planned);
  });

  it('is nothing within the window, where kernels hold none', () => {
    expect(scoreBytes(config, { promptTokens: 32, completionTokens: 32 }, 'wasm')).toBe(0);
    expect(scoreBytes({ ...config, window: null }, { promptTokens: prompt, completionTokens: own }, 'wasm')).toBe(0);
  });
});

describe('cacheBytes', () => {
  it('has room for a copy of the prompt a row beyond a window, and not for twice as much', () => {
    const plain = tinyModel(96);
    const config = { ...plain.config, window: 16, windowLayers: [0] };
    const model = { ...plain, config };
    const [prompt, own, group] = [60, 8, 24];
    const width = config.numKvHeads * config.headDim;
    const peak = peakBytes(() => {
      const prefix = plain.layers.map(() => ({
        k: tf.zeros<tf.Rank.R2>([prompt, width]),
        v: tf.zeros<tf.Rank.R2>([prompt, width]),
      }));
      const rows = Array.from({ length: group }, () => ({ start: 0, length: prompt, sequence: 0 }));
      const decoding = openDecoding(model, null, { kv: prefix, states: new Map() }, rows, own);
      decoding.skip(own - 1);
      decoding.step(rows.map(() => 3)).dispose();
      decoding.dispose();
    });
    const shape = { promptTokens: prompt, completionTokens: own, group };
    const planned = cacheBytes(config, shape, group);
    expect(peak).toBeLessThan(1.1 * planned);
    expect(peak).toBeGreaterThan(0.5 * planned);
    expect(cacheBytes(plain.config, shape, group)).toBeLessThan(peak);
    disposeModel(plain);
  });
});
