import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import type { ModelConfig } from '../../main/model/config.ts';
import { forward } from '../../main/model/decoder.ts';
import { generate } from '../../main/model/generate.ts';
import { loadModel } from '../../main/model/load.ts';
import { disposeModel, type Model, modelParameters } from '../../main/model/model.ts';
import { packGroups } from '../../main/model/pack.ts';
import { scoreCompletions } from '../../main/model/score.ts';
import { packedSequences } from '../../main/model/sequences.ts';
import { selectiveLogSoftmax } from '../../main/tensor/ops/log-softmax.ts';
import { gatherRows } from '../../main/tensor/ops/rows.ts';
import { openTestBackends } from '../backends.ts';
import { greedyOptions, largestDifference } from '../parity/compare.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { writeTinyModel } from '../tiny-model.ts';

/** Sizes that no kernel's vectors or tiles divide. */
const SIZES: readonly (readonly [string, Partial<ModelConfig>])[] = [
  ['head_dim 4', { hiddenSize: 20, numHeads: 5, numKvHeads: 5, headDim: 4, intermediateSize: 27, numLayers: 2 }],
  ['head_dim 12 and q/k norms', { hiddenSize: 21, numHeads: 6, numKvHeads: 2, headDim: 12, qkNorm: true }],
  ['head_dim 6, one of keys', { hiddenSize: 18, numHeads: 3, numKvHeads: 1, headDim: 6, intermediateSize: 5 }],
  ['head_dim 2 and biases', { hiddenSize: 7, numHeads: 1, numKvHeads: 1, headDim: 2, attentionBias: true }],
];

const GROUPS = [
  { promptIds: [5, 9, 30, 7], completions: [[8, 9, 20], [21, 2], [12]] },
  { promptIds: [20, 21], completions: [[30, 31, 29, 28]] },
];
const PROMPTS = GROUPS.map(({ promptIds }) => promptIds);
const ITEMS = GROUPS.flatMap(({ promptIds, completions }) =>
  completions.map((completionIds) => ({ promptIds, completionIds })),
);

/** Log-probabilities, gradients of all weights and greedy completions. */
function everything(model: Model) {
  const weights = modelParameters(model).map(({ value }) => value);
  const { value, grads } = tf.engine().gradients(() => loss(model), weights);
  const gradients = grads.map((gradient) => (gradient as tf.Tensor).dataSync<'float32'>());
  tf.dispose([value, grads]);
  const completions = generate(model, null, PROMPTS, { ...greedyOptions([1]), numGenerations: 2, maxNewTokens: 12 });
  return { scores: scoreCompletions(model, null, ITEMS), gradients, completions };
}

function loss(model: Model): tf.Scalar {
  return tf.tidy(() => {
    const packed = packGroups(GROUPS);
    const row = (values: Int32Array): tf.Tensor1D => tf.tensor1d(values, 'int32');
    const segments = tf.tensor2d(packed.segments, [packed.segments.length / 4, 4], 'int32');
    const tokens = { ids: row(packed.ids), positions: row(packed.positions) };
    const hidden = forward(model, tokens, null, packedSequences(model.config, segments));
    const predicting = gatherRows(hidden, row(packed.predictors));
    const options = { temperature: 1, trainWeight: true };
    return tf.neg(
      tf.mean(selectiveLogSoftmax(predicting, model.head.value, row(packed.targets), options).logps),
    ) as tf.Scalar;
  });
}

const [portable, ...others] = await openTestBackends();

describe.each(others)('a model of odd sizes on $name', (backend) => {
  const some = backend.slow ? SIZES.slice(1) : SIZES;
  it.each(some)('computes what the portable backend does with %s', async (name, sizes) => {
    const folder = join(temporaryFolderOfFile(), name.replaceAll(/\W+/g, '-'));
    disposeModel(await writeTinyModel(folder, sizes, () => 0.3));
    const on = async (place: typeof backend | undefined): Promise<ReturnType<typeof everything>> => {
      await place?.use();
      const before = tf.memory().numTensors;
      const model = loadModel(folder, 64);
      const result = everything(model);
      disposeModel(model);
      expect(tf.memory().numTensors).toBe(before);
      return result;
    };
    const expected = await on(portable);
    const ours = await on(backend);
    expect(largestDifference(ours.scores, expected.scores)).toBeLessThan(2e-5);
    expect(largestDifference(ours.gradients, expected.gradients)).toBeLessThan(2e-5);
    expect(ours.completions).toEqual(expected.completions);
  });
});
