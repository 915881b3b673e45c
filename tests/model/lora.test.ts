import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { linear } from '../../main/model/linear.ts';
import {
  type Adapter,
  adaptedLinears,
  adapterParameters,
  createAdapter,
  disposeAdapter,
  type LoraConfig,
  loraScaling,
} from '../../main/model/lora.ts';
import { disposeModel, type Model } from '../../main/model/model.ts';
import { scoreCompletions } from '../../main/model/score.ts';
import { openTestBackends } from '../backends.ts';
import { gradientError, randomTensor } from '../tensor/ops/finite-differences.ts';
import { fault } from './faults.ts';
import { tinyModel } from './tiny.ts';

const CONFIG: LoraConfig = { r: 4, alpha: 8, targetModules: ['q_proj', 'down_proj'], useRslora: false };
const ITEMS = [{ promptIds: [5, 9, 33], completionIds: [8, 9, 60, 61] }];
const values = (adapter: Adapter): number[] => adapterParameters(adapter).flatMap(({ value }) => [...value.dataSync()]);

describe('loraScaling', () => {
  it('is alpha / r, or alpha / sqrt(r) for rsLoRA', () => {
    expect(loraScaling(CONFIG, 'm')).toBe(2);
    expect(loraScaling({ ...CONFIG, useRslora: true }, 'm')).toBe(4);
  });

  it("takes the first pattern that matches the end of a module's name", () => {
    const config = { ...CONFIG, rankPattern: { 'v?q_proj': 2 }, alphaPattern: { 'layers.1.*': 16, q_proj: 4 } };
    expect(loraScaling(config, 'layers.0.q_proj')).toBe(2);
    expect(loraScaling(config, 'layers.1.q_proj')).toBe(8);
    expect(loraScaling(config, 'layers.1.down_proj')).toBe(4);
    expect(loraScaling(config, 'layers.0.aq_proj')).toBe(2);
  });
});

describe.each(await openTestBackends())('adapters on $name', (backend) => {
  let model: Model;
  let base: Float32Array[];
  beforeAll(async () => {
    await backend.use();
    model = tinyModel();
    base = scoreCompletions(model, null, ITEMS);
  });
  afterAll(() => disposeModel(model));

  it('have PEFT names and shapes, A within ±1/sqrt(in) and B at 0', () => {
    const adapter = createAdapter(model, CONFIG, 1);
    const shapes = adapterParameters(adapter).map(({ name, value }) => [name, value.shape]);
    expect(shapes.slice(0, 4)).toEqual([
      ['base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight', [4, 32]],
      ['base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight', [32, 4]],
      ['base_model.model.model.layers.0.mlp.down_proj.lora_A.weight', [4, 48]],
      ['base_model.model.model.layers.0.mlp.down_proj.lora_B.weight', [32, 4]],
    ]);
    expect(shapes).toHaveLength(8);
    const { a, b } = adapter.modules.get('model.layers.0.mlp.down_proj') ?? {};
    const drawn = [...(a?.value.dataSync() ?? [])];
    expect(Math.max(...drawn.map(Math.abs))).toBeLessThanOrEqual(1 / Math.sqrt(48));
    expect(Math.max(...drawn)).toBeGreaterThan(0.9 / Math.sqrt(48));
    expect(b?.value.dataSync().every((x) => x === 0)).toBe(true);
    disposeAdapter(adapter);
  });

  it('change nothing while B is 0', () => {
    const adapter = createAdapter(model, CONFIG, 1);
    expect(scoreCompletions(model, adapter, ITEMS)).toEqual(base);
    disposeAdapter(adapter);
  });

  it('are determined by their seed, module by module whatever else is adapted', () => {
    const [one, again, other] = [1, 1, 2].map((seed) => createAdapter(model, CONFIG, seed)) as [
      Adapter,
      Adapter,
      Adapter,
    ];
    const alone = createAdapter(model, { ...CONFIG, targetModules: ['down_proj'] }, 1);
    expect(values(one)).toEqual(values(again));
    expect(values(one)).not.toEqual(values(other));
    const down = (adapter: Adapter) => adapter.modules.get('model.layers.1.mlp.down_proj')?.a.value.dataSync();
    expect(down(alone)).toEqual(down(one));
    for (const adapter of [one, again, other, alone]) disposeAdapter(adapter);
  });

  it('leave no tensors', () => {
    const before = tf.memory().numTensors;
    const adapter = createAdapter(model, CONFIG, 1);
    disposeAdapter(adapter);
    expect(tf.memory().numTensors).toBe(before);
  });

  it('name layers by the last word or by the whole name', () => {
    const names = (...targetModules: string[]): string[] =>
      adaptedLinears(model, { ...CONFIG, targetModules }).map(({ name }) => name);
    expect(names('v_proj')).toEqual(['model.layers.0.self_attn.v_proj', 'model.layers.1.self_attn.v_proj']);
    expect(names('layers.1.mlp.up_proj')).toEqual(['model.layers.1.mlp.up_proj']);
    expect(names('proj')).toEqual([]);
  });

  it.each([
    ['a target that the model has not', ['q_proj', 'c_attn'], '"c_attn"'],
    ['no target', [], 'got none'],
  ])('refuse %s', (_, targetModules, named) => {
    const [code, message] = fault(() => createAdapter(model, { ...CONFIG, targetModules }, 1));
    expect([code, message]).toEqual(['BAD_TARGET_MODULES', expect.stringContaining(named)]);
    expect(message).toContain('gate_proj');
  });
});

describe.each(await openTestBackends())('linear on $name', (backend) => {
  beforeAll(backend.use);

  it('has the gradients of finite differences through weight, bias, A and B', () => {
    const f = (x: tf.Tensor2D, weight: tf.Tensor2D, bias: tf.Tensor1D, a: tf.Tensor2D, b: tf.Tensor2D): tf.Tensor => {
      const layer = { name: 'm', weight: { name: 'w', value: weight }, bias: { name: 'b', value: bias } };
      const modules = new Map([['m', { a: { name: 'A', value: a }, b: { name: 'B', value: b }, scaling: 2 }]]);
      return linear(x, layer, { modules });
    };
    const shapes = [[3, 8], [6, 8], [6], [2, 8], [6, 2]] as [number, number][];
    const inputs = shapes.map((shape, i) => randomTensor(shape, i + 1));
    expect(gradientError(f, inputs)).toBeLessThan(1e-3);
  });
});
