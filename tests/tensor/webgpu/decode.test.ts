import * as tf from '@tensorflow/tfjs-core';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { ModelConfig } from '../../../main/model/config.ts';
import { type GenerateOptions, generate } from '../../../main/model/generate.ts';
import { randomModel } from '../../../main/model/load.ts';
import { type Adapter, disposeAdapter } from '../../../main/model/lora.ts';
import { disposeModel, type Model } from '../../../main/model/model.ts';
import { registerDecodeRun } from '../../../main/tensor/ops/decode-step.ts';
import { WEBGPU_BACKEND } from '../../../main/tensor/webgpu/backend.ts';
import { openGpuDecodeRun } from '../../../main/tensor/webgpu/decode.ts';
import { closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import { SMALL } from '../../small-config.ts';
import { shakenAdapter } from '../shaken-adapter.ts';
import { opened, openGpuForTest } from './open.ts';

const LAYERS = 2;
const MODEL: ModelConfig = {
  ...SMALL,
  modelType: 'qwen3',
  numLayers: LAYERS,
  attentionBias: true,
  qkNorm: true,
};
const OPTIONS: GenerateOptions = {
  numGenerations: 2,
  maxNewTokens: 8,
  eosTokenIds: [7, 8, 9],
  coordinates: [1, 2],
  temperature: 1,
  topK: 0,
  topP: 1,
  minP: null,
  repetitionPenalty: 1,
};
const PROMPTS = [[5, 9, 33], [7], [60, 61, 62, 63, 64, 65, 66]];
const ALL = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'];

const gpu = await openGpuForTest();

describe.runIf(gpu !== null)('decoding by the fused step', () => {
  const model: Model | null = gpu === null ? null : randomModel(MODEL, 3, 32, () => 0.3);
  const fuse = (on: boolean): void =>
    registerDecodeRun(WEBGPU_BACKEND, (...run) => (on ? openGpuDecodeRun(opened(gpu), ...run) : null));
  afterEach(() => fuse(true));
  afterAll(async () => {
    if (model !== null) disposeModel(model);
    await closeWebGpuBackend(opened(gpu));
  });

  const ids = (adapter: Adapter | null, options: Partial<GenerateOptions> = {}) =>
    generate(model as Model, adapter, PROMPTS, { ...OPTIONS, ...options }).map((completion) => completion.ids);

  it.each([
    ['no adapter', null],
    ['an adapter on some layers', ['q_proj', 'v_proj', 'up_proj']],
    ['an adapter on all layers', ALL],
  ])('samples the tokens of decoding op by op, with %s', (_, targets) => {
    const adapter = targets === null ? null : shakenAdapter(model as Model, targets, 0.4);
    const before = tf.memory().numTensors;
    const fused = ids(adapter);
    fuse(false);
    expect(fused).toEqual(ids(adapter));
    expect(tf.memory().numTensors).toBe(before);
    if (adapter !== null) disposeAdapter(adapter);
  });

  /** What one more token takes. */
  function costOfAToken(adapter: Adapter | null): { dispatches: number; barriers: number } {
    const count = (maxNewTokens: number) => {
      const before = opened(gpu).gpu.counts;
      ids(adapter, { maxNewTokens, eosTokenIds: [] });
      const { dispatches, barriers } = opened(gpu).gpu.counts;
      return { dispatches: dispatches - before.dispatches, barriers: barriers - before.barriers };
    };
    const [six, five] = [count(6), count(5)];
    return { dispatches: six.dispatches - five.dispatches, barriers: six.barriers - five.barriers };
  }

  it('takes five dispatches a layer, with an adapter and without', () => {
    const adapter = shakenAdapter(model as Model, ALL, 0.4);
    // Besides the layers: the embedding, its norm, the head, and two for the draw.
    const dispatches = 5 * LAYERS + 5;
    for (const found of [costOfAToken(adapter), costOfAToken(null)]) {
      expect(found.dispatches).toBe(dispatches);
      // Each needs the one before; the first has the ids alone to wait for.
      expect(found.barriers).toBeLessThanOrEqual(dispatches);
    }
    disposeAdapter(adapter);
  });

  it('takes the default of 128 rows in the same dispatches, with the tokens of two batches of 64', () => {
    const all = { maxNewTokens: 3, eosTokenIds: [] };
    const sample = (options: Partial<GenerateOptions>) =>
      generate(model as Model, null, PROMPTS.slice(0, 2), { ...OPTIONS, numGenerations: 64, ...options }).map(
        (completion) => completion.ids,
      );
    const dispatches = (maxNewTokens: number): number => {
      const before = opened(gpu).gpu.counts.dispatches;
      sample({ ...all, maxNewTokens });
      return opened(gpu).gpu.counts.dispatches - before;
    };
    expect(dispatches(3) - dispatches(2)).toBe(7 * LAYERS + 5);
    expect(sample(all)).toEqual(sample({ ...all, inBatches: (work) => work(64) }));
  });

  it('reads once for the prompts, whether their logits are finite, and once a token', () => {
    const before = opened(gpu).gpu.counts.reads;
    ids(null, { maxNewTokens: 5, eosTokenIds: [] });
    expect(opened(gpu).gpu.counts.reads - before).toBe(1 + 5);
  });
});
