/**
 * Every kernel of the webgpu backend is compiled and checked by Dawn for a device with the limits that WebGPU guarantees.
 * It needs no GPU and no driver, computes nothing, and so runs everywhere; tests/tensor/webgpu/ looks at the numbers.
 */
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, describe, expect, it } from 'vitest';
import '../../main/tensor/gradients.ts';
import type { ModelConfig } from '../../main/model/config.ts';
import { generate } from '../../main/model/generate.ts';
import { adapterParameters, createAdapter, disposeAdapter } from '../../main/model/lora.ts';
import { assembleModel, disposeModel, modelParameters, parameterShapes, precisionOf } from '../../main/model/model.ts';
import { makeModelRope } from '../../main/model/rope-tables.ts';
import { GUARANTEED, smallLimits } from '../../main/tensor/webgpu/limits.ts';
import { closeWebGpuBackend, openWebGpuBackend } from '../../main/tensor/webgpu/open.ts';
import { makeWeight, type WeightPrecision, type WeightSource } from '../../main/tensor/weights.ts';
import { disposeBatch, uploadGroups } from '../../main/trainer/batching/packed-batch.ts';
import { parseConfig } from '../../main/trainer/config/config.ts';
import { AdamW } from '../../main/trainer/optim/optimizer.ts';
import { completionLogps, lossAndGradients } from '../../main/trainer/policy/policy.ts';
import { SMALL } from '../small-config.ts';

const backend = await openWebGpuBackend({ checksOnly: true });

/** Tokens of a prompt beyond four tiles of keys of any size. */
const LONG = 140;

const LORA = {
  r: 8,
  alpha: 4,
  useRslora: false,
  targetModules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'],
};

/** Zeros, which are all that this device reads anyway. */
const zeros = (type: 'F32' | 'F16'): WeightSource => ({
  type,
  read: () => new Float32Array(0),
  readPart: (_, count) => new Float32Array(count),
  readRaw: (_, count) => Buffer.alloc(2 * count),
});

/** A model of one layer with heads of this size, so many of them to a key. */
function modelOf(headDim: number, group: number, precision: WeightPrecision, traits: Partial<ModelConfig> = {}) {
  const config: ModelConfig = {
    ...SMALL,
    vocabSize: 320,
    hiddenSize: 64,
    intermediateSize: 128,
    numHeads: group,
    numKvHeads: 1,
    headDim,
    maxPositionEmbeddings: LONG + 8,
    ...traits,
  };
  const shapes = parameterShapes(config);
  const parameter = (name: string) => ({
    name,
    value: makeWeight(
      zeros(precision === 'float32' ? 'F32' : 'F16'),
      shapes.get(name) ?? [],
      precisionOf(name, precision),
    ),
  });
  return assembleModel(config, parameter, makeModelRope(config, LONG + 8));
}

interface Case {
  readonly headDim: number;
  readonly group: number;
  readonly precision: WeightPrecision;
  readonly lora: boolean;
  readonly traits?: Partial<ModelConfig>;
}

/** Samples in each way, and takes a whole step. */
function work({ headDim, group, precision, lora, traits }: Case): void {
  const model = modelOf(headDim, group, precision, traits);
  const adapter = lora ? createAdapter(model, LORA, 1) : null;
  const plain = { numGenerations: 2, maxNewTokens: 3, eosTokenIds: [], coordinates: [1], temperature: 1 };
  const filters = { topK: 0, topP: 1, minP: null, repetitionPenalty: 1 };
  const prompt = [[5, 9, 33, 4]];
  generate(model, adapter, prompt, { ...plain, ...filters });
  generate(model, adapter, prompt, { ...plain, topK: 5, topP: 0.9, minP: 0.01, repetitionPenalty: 1.2 });
  // More keys than one stretch has, as the fused step and op by op: more rows than it takes.
  const long = [Array.from({ length: LONG }, (_, i) => i)];
  generate(model, adapter, long, { ...plain, ...filters });
  generate(model, adapter, long, { ...plain, ...filters, numGenerations: 72 });
  generate(model, adapter, prompt, { ...plain, ...filters, numGenerations: 72 });
  const parameters = adapter === null ? modelParameters(model) : adapterParameters(adapter);
  const optimizer = new AdamW(parameters, parseConfig({}));
  // Of the prompt's keys more rows than one part has.
  const completions = [...Array.from({ length: 12 }, () => Array.from({ length: 24 }, (_, i) => i)), [7, 8]];
  const batch = uploadGroups([{ promptIds: [5, 9, 33], completions }]);
  const loss = (): tf.Scalar => tf.sum(completionLogps({ model, adapter }, batch, 1, { checkpointing: true }).logps);
  const { value, grads } = lossAndGradients(loss, parameters);
  optimizer.update(Object.fromEntries(parameters.map(({ name }, i) => [name, grads[i] as tf.Tensor])), 0.01);
  tf.dispose([value, ...grads]);
  optimizer.dispose();
  disposeBatch(batch);
  if (adapter !== null) disposeAdapter(adapter);
  disposeModel(model);
}

afterAll(() => closeWebGpuBackend(backend));

describe('the kernels, on a device with the limits that WebGPU guarantees', () => {
  it('are tried on such a device', () => {
    expect(backend.gpu.adapter.limits).toEqual(GUARANTEED);
  });

  it.each<readonly [string, Case]>([
    ['all weights in float32', { headDim: 64, group: 3, precision: 'float32', lora: false }],
    ['adapters on 16-bit weights', { headDim: 128, group: 8, precision: 'stored', lora: true }],
    ['adapters on bfloat16, wide heads', { headDim: 256, group: 4, precision: 'bfloat16', lora: true }],
    [
      'adapters on int8, biases and norms',
      {
        headDim: 128,
        group: 5,
        precision: 'int8',
        lora: true,
        traits: { attentionBias: true, qkNorm: true, modelType: 'qwen3' },
      },
    ],
    ['adapters on NF4', { headDim: 16, group: 2, precision: 'nf4', lora: true }],
  ])('compile for %s', (_, each) => {
    work(each);
    backend.gpu.finish();
    const programs = [...backend.gpu.counts.byProgram.keys()];
    expect(programs).toEqual(expect.arrayContaining(['DecodeAttentionSum', 'PackedAttentionGradSum']));
  });
});

describe('a weight for the GPU', () => {
  it('goes up in pieces as it is read', () => {
    const counts: number[] = [];
    const source: WeightSource = {
      ...zeros('F16'),
      readRaw: (_, count) => {
        counts.push(count);
        return Buffer.alloc(2 * count);
      },
    };
    makeWeight(source, [3000, 2048], 'stored').dispose();
    expect(counts).toEqual([2 ** 22, 3000 * 2048 - 2 ** 22]);
  });
});

describe('smallLimits', () => {
  it('names what an adapter has too little of, with both numbers', () => {
    expect(smallLimits({ ...GUARANTEED, maxBufferSize: 2 ** 40 })).toEqual([]);
    expect(smallLimits({ ...GUARANTEED, maxStorageBuffersPerShaderStage: 4 })).toEqual([
      'maxStorageBuffersPerShaderStage 4, but 8 is needed',
    ]);
  });
});
