/** Decoding in five dispatches a layer against decoding op by op, where K is in slices and keys are in stretches. */
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, describe, expect, it } from 'vitest';
import type { ModelConfig } from '../../../main/model/config.ts';
import { openDecoding } from '../../../main/model/decoding.ts';
import { randomModel } from '../../../main/model/load.ts';
import { type Adapter, disposeAdapter } from '../../../main/model/lora.ts';
import { disposeModel, type Model } from '../../../main/model/model.ts';
import { readPrompts } from '../../../main/model/prefill.ts';
import { registerDecodeRun } from '../../../main/tensor/ops/decode-step.ts';
import { WEBGPU_BACKEND } from '../../../main/tensor/webgpu/backend.ts';
import { openGpuDecodeRun } from '../../../main/tensor/webgpu/decode.ts';
import { closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import { SMALL } from '../../small-config.ts';
import { shakenAdapter } from '../shaken-adapter.ts';
import { opened, openGpuForTest } from './open.ts';

const MODEL: ModelConfig = {
  ...SMALL,
  modelType: 'qwen3',
  vocabSize: 99,
  hiddenSize: 516,
  intermediateSize: 516,
  numLayers: 2,
  maxPositionEmbeddings: 512,
  attentionBias: true,
  qkNorm: true,
};
const ALL = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'];
// Longer than a stretch of keys, and shorter.
const PROMPTS = [Array.from({ length: 140 }, (_, i) => (7 * i) % 99), [5, 9, 33]];
const ROWS = [0, 0, 0, 1, 1, 1];
const STEPS = [
  [1, 2, 3, 4, 5, 6],
  [7, 8, 9, 10, 11, 12],
  [13, 14],
];

const gpu = await openGpuForTest();

describe.runIf(gpu !== null)('decoding in five dispatches a layer', () => {
  const fuse = (on: boolean): void =>
    registerDecodeRun(WEBGPU_BACKEND, (...run) => (on ? openGpuDecodeRun(opened(gpu), ...run) : null));
  const model: Model | null = gpu === null ? null : randomModel(MODEL, 3, 150, () => 0.05);
  afterAll(async () => {
    fuse(true);
    if (model !== null) disposeModel(model);
    await closeWebGpuBackend(opened(gpu));
  });

  /** Logits of each step; before the last, only a row of each prompt is kept. */
  function decode(adapter: Adapter | null, fused: boolean): Float32Array[] {
    fuse(fused);
    const { kept, places, logits } = readPrompts(model as Model, adapter, PROMPTS, () => undefined);
    logits.dispose();
    const rows = ROWS.map((prompt) => places[prompt] ?? { start: 0, length: 0, sequence: 0 });
    const run = openDecoding(model as Model, adapter, kept, rows, STEPS.length);
    const found = STEPS.map((ids, i) => {
      if (i === STEPS.length - 1) run.keep([1, 4]);
      const next = run.step(ids);
      const numbers = next.dataSync<'float32'>();
      next.dispose();
      return numbers;
    });
    run.dispose();
    return found;
  }

  it('gives the logits of decoding op by op, and the same bytes again', () => {
    const adapter = shakenAdapter(model as Model, ALL, 0.2);
    const before = tf.memory().numTensors;
    const [found, again, expected] = [decode(adapter, true), decode(adapter, true), decode(adapter, false)];
    expect(found).toEqual(again);
    expected.forEach((numbers, step) => {
      const largest = Math.max(...numbers.map(Math.abs));
      const worst = Math.max(...numbers.map((value, i) => Math.abs(value - (found[step]?.[i] ?? Number.NaN))));
      expect(worst / largest).toBeLessThan(2e-5);
    });
    expect(tf.memory().numTensors).toBe(before);
    disposeAdapter(adapter);
  });
});
