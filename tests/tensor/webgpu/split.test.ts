/** Matrices that one binding can't hold, on an adapter that is opened with a small limit. */
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, describe, expect, it } from 'vitest';
import type { ModelConfig } from '../../../main/model/config.ts';
import { generate } from '../../../main/model/generate.ts';
import { adapterParameters, createAdapter, disposeAdapter } from '../../../main/model/lora.ts';
import { assembleModel, disposeModel, type Model, parameterShapes } from '../../../main/model/model.ts';
import { makeModelRope } from '../../../main/model/rope-tables.ts';
import { randomStream } from '../../../main/random.ts';
import { gatherRows } from '../../../main/tensor/ops/rows.ts';
import { closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import { makeWeight, type WeightPrecision, type WeightSource } from '../../../main/tensor/weights.ts';
import { disposeBatch, uploadGroups } from '../../../main/trainer/batching/packed-batch.ts';
import { completionLogps, lossAndGradients } from '../../../main/trainer/policy/policy.ts';
import { SMALL } from '../../small-config.ts';
import { randomTensor } from '../ops/finite-differences.ts';
import { opened, openGpuForTest } from './open.ts';

/** Bytes: the matrices below take several times as much. */
const LIMIT = 8192;
const small = await openGpuForTest({ largestBuffer: LIMIT });

const CONFIG: ModelConfig = {
  ...SMALL,
  vocabSize: 250,
  numHeads: 2,
  numKvHeads: 1,
};

function source(values: Float32Array): WeightSource {
  const floats = Float32Array.from(values);
  return {
    type: 'F32',
    read: () => floats,
    readPart: (first, count) => floats.slice(first, first + count),
    readRaw: (first, count) => Buffer.from(floats.slice(first, first + count).buffer),
  };
}

/** In ±1, made here: as a tensor they would be refused. */
function numbers(shape: readonly number[], seed: number): Float32Array {
  const { next } = randomStream(seed);
  return Float32Array.from({ length: shape.reduce((product, size) => product * size, 1) }, () => 2 * next() - 1);
}

const difference = (a: tf.Tensor, b: tf.Tensor): number => tf.max(tf.abs(tf.sub(a, b))).dataSync()[0] ?? Number.NaN;

function model(): Model {
  let seed = 0;
  const shapes = parameterShapes(CONFIG);
  const parameter = (name: string) => {
    const shape = shapes.get(name) ?? [];
    seed++;
    const value =
      shape.length === 1
        ? tf.ones([...shape])
        : makeWeight(source(numbers(shape, seed).map((x) => 0.3 * x)), shape, 'float32');
    return { name, value };
  };
  return assembleModel(CONFIG, parameter, makeModelRope(CONFIG, 48));
}

describe.runIf(small !== null)('a matrix beyond one binding', () => {
  afterAll(() => closeWebGpuBackend(opened(small)));

  it.each(['float32', 'bfloat16', 'int8', 'nf4'] as const)(
    'gives the products and rows of a whole one, in %s',
    (kind) => {
      // 512 x 64: 128 KiB in float32, 18 in NF4.
      const [n, k] = [512, 64];
      const values = numbers([n, k], 1);
      const split = makeWeight(source(values), [n, k], kind) as tf.Tensor2D;
      expect(opened(small).parts(split)?.length).toBeGreaterThan(1);
      // The same weights in pieces that each fit.
      const wholes = Array.from({ length: 8 }, (_, i) =>
        makeWeight(source(values.slice(i * 64 * k, (i + 1) * 64 * k)), [64, k], kind as WeightPrecision),
      ) as tf.Tensor2D[];
      for (const rows of [1, 3]) {
        const x = randomTensor<tf.Rank.R2>([rows, k], 2);
        const expected = tf.concat(
          wholes.map((whole) => tf.matMul(x, whole, false, true)),
          1,
        );
        expect(difference(tf.matMul(x, split, false, true), expected)).toBeLessThan(1e-5);
        const dy = randomTensor<tf.Rank.R2>([rows, n], 3);
        const parts = wholes.map((whole, i) => tf.matMul(tf.slice(dy, [0, 64 * i], [rows, 64]), whole));
        expect(
          difference(
            tf.matMul(dy, split),
            parts.reduce((sum, part) => tf.add(sum, part)),
          ),
        ).toBeLessThan(1e-4);
      }
      const ids = tf.tensor1d([0, 511, 130, 7], 'int32');
      const rows = [0, 511, 130, 7].map((id) =>
        gatherRows(wholes[Math.floor(id / 64)] as tf.Tensor2D, tf.tensor1d([id % 64], 'int32')),
      );
      expect(difference(gatherRows(split, ids), tf.concat(rows, 0))).toBe(0);
    },
  );

  it('gives its buffers back', () => {
    const { gpu } = opened(small);
    const make = (): void => makeWeight(source(numbers([512, 64], 1)), [512, 64], 'float32').dispose();
    make();
    gpu.flush();
    const { buffers } = gpu.counts;
    for (let i = 0; i < 3; i++) {
      make();
      gpu.flush();
    }
    expect(gpu.counts.buffers).toBe(buffers);
  });

  it('samples and trains adapters as with whole embedding and head', async () => {
    const outcome = () => {
      const own = model();
      const lora = { r: 4, alpha: 4, targetModules: ['q_proj', 'down_proj'], useRslora: false };
      const adapter = createAdapter(own, lora, 1);
      const options = { numGenerations: 2, maxNewTokens: 6, eosTokenIds: [], coordinates: [1], temperature: 1 };
      const plain = { ...options, topK: 0, topP: 1, minP: null, repetitionPenalty: 1 };
      const ids = generate(own, adapter, [[5, 200, 33]], plain).map((completion) => completion.ids);
      const batch = uploadGroups([{ promptIds: [5, 200, 33], completions: ids }]);
      const loss = (): tf.Scalar => tf.sum(completionLogps({ model: own, adapter }, batch, 1).logps);
      const { value, grads } = lossAndGradients(loss, adapterParameters(adapter));
      const found = { split: opened_().parts(own.head.value) !== null, ids };
      const all = [value, ...grads].flatMap((tensor) => [...tensor.dataSync()]);
      tf.dispose([value, ...grads]);
      disposeBatch(batch);
      disposeAdapter(adapter);
      disposeModel(own);
      return { ...found, all };
    };
    let opened_ = () => opened(small);
    const parts = outcome();
    const large = opened(await openGpuForTest());
    opened_ = () => large;
    const whole = outcome();
    expect([parts.split, whole.split]).toEqual([true, false]);
    expect(parts.ids).toEqual(whole.ids);
    parts.all.forEach((x, i) => {
      expect(Math.abs(x - (whole.all[i] ?? Number.NaN))).toBeLessThan(1e-4);
    });
    await closeWebGpuBackend(large);
  });
});

describe.runIf(small !== null)('any other tensor beyond one binding', () => {
  it('is refused with what to do', async () => {
    const backend = opened(await openGpuForTest({ largestBuffer: LIMIT }));
    const refusal = { code: 'GPU_BUFFER_TOO_LARGE', remedy: expect.stringContaining('LoRA') };
    expect(() => tf.fill([LIMIT], 1)).toThrow(expect.objectContaining(refusal));
    const weight = makeWeight(source(numbers([512, 64], 1)), [512, 64], 'float32');
    expect(() => tf.add(weight, 1)).toThrow(expect.objectContaining(refusal));
    expect(weight.dataSync()).toEqual(numbers([512, 64], 1));
    await closeWebGpuBackend(backend);
  });
});
