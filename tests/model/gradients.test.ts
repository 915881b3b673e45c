import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forward } from '../../main/model/decoder.ts';
import { loadModel } from '../../main/model/load.ts';
import { type Adapter, adapterParameters, createAdapter, disposeAdapter } from '../../main/model/lora.ts';
import { disposeModel, type Model, modelParameters } from '../../main/model/model.ts';
import { packGroups } from '../../main/model/pack.ts';
import type { Parameter } from '../../main/model/parameter.ts';
import { openSafetensors } from '../../main/model/safetensors.ts';
import { packedSequences } from '../../main/model/sequences.ts';
import { selectiveLogSoftmax } from '../../main/tensor/ops/log-softmax.ts';
import { gatherRows } from '../../main/tensor/ops/rows.ts';
import { openTestBackends, type TestBackend, tensorsLeft } from '../backends.ts';
import { f32, toInt8, writeSafetensors } from '../int8-folder.ts';
import { randomTensor } from '../tensor/ops/finite-differences.ts';
import { writeTinyModel } from '../tiny-model.ts';
import { TINY } from './tiny.ts';

const GROUPS = [
  { promptIds: [5, 9, 33, 7], completions: [[8, 9, 60], [61, 2], [12]] },
  { promptIds: [20, 21], completions: [[30, 31, 32, 33]] },
];

/** Minus the mean log-probability of the groups' completions, less a little of their entropy. */
function loss(model: Model, adapter: Adapter | null): tf.Scalar {
  return tf.tidy(() => {
    const packed = packGroups(GROUPS);
    const row = (values: Int32Array): tf.Tensor1D => tf.tensor1d(values, 'int32');
    const segments = tf.tensor2d(packed.segments, [packed.segments.length / 4, 4], 'int32');
    const tokens = { ids: row(packed.ids), positions: row(packed.positions) };
    const hidden = forward(model, tokens, adapter, packedSequences(model.config, segments));
    const options = { temperature: 0.9, trainWeight: adapter === null };
    const predicting = gatherRows(hidden, row(packed.predictors));
    const { logps, entropies } = selectiveLogSoftmax(predicting, model.head.value, row(packed.targets), options);
    return tf.neg(tf.mean(tf.add(logps, tf.mul(0.1, entropies)))) as tf.Scalar;
  });
}

/** The parameter's gradient along a random direction by the tape, and by finite differences. */
function finiteDifference(
  parameter: Parameter,
  gradient: tf.Tensor,
  value: () => number,
): [tape: number, numeric: number] {
  const start = parameter.value;
  const raw = randomTensor(start.shape as [number], 11);
  const direction = tf.div(raw, tf.norm(raw));
  const step = 0.01;
  const at = (t: number): number => {
    parameter.value = tf.add(start, tf.mul(direction, t));
    const result = value();
    parameter.value.dispose();
    return result;
  };
  const numeric = (at(step) - at(-step)) / (2 * step);
  parameter.value = start;
  return [tf.sum(tf.mul(gradient, direction)).dataSync()[0] ?? Number.NaN, numeric];
}

/** `slow`: of layers that are alike the first alone. */
function checkSlopes(
  model: Model,
  adapter: Adapter | null,
  parameters: readonly Parameter[],
  { slow }: Pick<TestBackend, 'slow'>,
): void {
  const value = (): number => loss(model, adapter).dataSync()[0] ?? Number.NaN;
  const { grads } = tf.engine().gradients(
    () => loss(model, adapter),
    parameters.map((parameter) => parameter.value),
  );
  parameters.forEach((parameter, i) => {
    if (slow && /\.layers\.[1-9]/.test(parameter.name)) return;
    const [tape, numeric] = finiteDifference(parameter, grads[i] as tf.Tensor, value);
    expect(Math.abs(tape - numeric), `${parameter.name}: ${tape} by the tape, ${numeric} measured`).toBeLessThan(
      2e-3 + 0.02 * Math.abs(numeric),
    );
  });
}

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A random model, wide enough for whole blocks of 8 bits, as such and as what its codes stand for. */
async function twoFolders() {
  const root = mkdtempSync(join(tmpdir(), 'braid-gradients-'));
  folders.push(root);
  const [plain, quantised] = [join(root, 'plain'), join(root, 'quantised')];
  const wide = { vocabSize: 96, hiddenSize: 64, intermediateSize: 64, headDim: 32 };
  disposeModel(await writeTinyModel(plain, wide, () => 0.1));
  cpSync(plain, quantised, { recursive: true });
  const stood = toInt8(quantised);
  const file = openSafetensors(join(plain, 'model.safetensors'));
  const parts = [...file.entries].map(
    ([name, { shape }]) => [name, f32(shape, ...(stood.get(name) ?? file.read(name)))] as const,
  );
  file.close();
  writeSafetensors(plain, Object.fromEntries(parts));
  return { plain, quantised };
}

/** The loss with an adapter, and its gradients: that of q_proj comes through every kind of product. */
function withAdapter(folder: string, precision: 'float32' | 'int8') {
  const model = loadModel(folder, 32, precision);
  const adapter = createAdapter(model, { r: 2, alpha: 4, targetModules: ['q_proj', 'down_proj'], useRslora: false }, 1);
  [...adapter.modules.values()].forEach(({ b }, i) => {
    b.value = tf.mul(0.2, randomTensor<tf.Rank.R2>(b.value.shape, i));
  });
  const values = adapterParameters(adapter).map(({ value }) => value);
  const { value, grads } = tf.engine().gradients(() => loss(model, adapter), values);
  const found = { loss: value.dataSync()[0] ?? Number.NaN, grads: grads.map((grad) => [...grad.dataSync()]) };
  tf.dispose([value, grads]);
  disposeAdapter(adapter);
  disposeModel(model);
  return found;
}

describe.each(await openTestBackends())("the decoder's gradients on $name", (backend) => {
  beforeAll(backend.use);
  const models = [
    'llama-tied-llama3-bf16-sharded',
    'llama-attention-bias-f32-sharded',
    'qwen2-tied-f32',
    'qwen3-untied-f16-sharded',
  ];

  it.each(models)('are those of finite differences for every weight of %s', (name) => {
    const model = loadModel(join(TINY, '..', name), 32);
    checkSlopes(model, null, modelParameters(model), backend);
    disposeModel(model);
  });

  it('are those of finite differences for every A and B of an adapter', () => {
    const model = loadModel(TINY, 32);
    const targetModules = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'];
    const adapter = createAdapter(model, { r: 2, alpha: 4, targetModules, useRslora: true }, 1);
    [...adapter.modules.values()].forEach(({ b }, i) => {
      // Small, so that the loss is nearly straight along the step.
      b.value = tf.mul(0.2, randomTensor<tf.Rank.R2>(b.value.shape, i));
    });
    checkSlopes(model, adapter, adapterParameters(adapter), backend);
    disposeAdapter(adapter);
    disposeModel(model);
  });

  it('are, of a folder in 8 bits that stay so on a GPU, those of the numbers that its codes stand for', async () => {
    const { plain, quantised } = await twoFolders();
    await tf.setBackend('cpu');
    const expected = withAdapter(plain, 'float32');
    await backend.use();
    const found = withAdapter(quantised, 'int8');
    expect(found.loss).toBeCloseTo(expected.loss, 5);
    found.grads.forEach((grad, i) => {
      const exact = expected.grads[i] ?? [];
      const size = Math.hypot(...exact);
      expect(Math.hypot(...grad.map((value, k) => value - (exact[k] ?? Number.NaN)))).toBeLessThan(1e-4 * size);
    });
  });

  it('leave no tensors', () => {
    const model = loadModel(TINY, 32);
    const weights = modelParameters(model).map(({ value }) => value);
    const run = (): void => {
      const { value, grads } = tf.engine().gradients(() => loss(model, null), weights);
      tf.dispose([value, grads]);
    };
    expect(tensorsLeft(run)).toBe(0);
    disposeModel(model);
  });
});
