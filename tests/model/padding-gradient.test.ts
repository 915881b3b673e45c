import '@tensorflow/tfjs-backend-cpu';
import * as tf from '@tensorflow/tfjs-core';
import { expect, it, onTestFinished } from 'vitest';
import { forward } from '../../main/model/decoder.ts';
import { disposeModel, modelParameters } from '../../main/model/model.ts';
import { packGroups } from '../../main/model/pack.ts';
import { packedSequences } from '../../main/model/sequences.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { writeTinyModel } from '../tiny-model.ts';

/** The gradient of each row of the embeddings when all of these tokens are read in a full fine-tuning. */
async function rowGradients(padTokenId: number | null): Promise<number[]> {
  const model = await writeTinyModel(temporaryFolder(), { padTokenId });
  onTestFinished(() => disposeModel(model));
  return tf.tidy(() => {
    const packed = packGroups([{ promptIds: [0, 3, 0], completions: [[4, 0, 5]] }]);
    const segments = tf.tensor2d(packed.segments, [packed.segments.length / 4, 4], 'int32');
    const tokens = { ids: tf.tensor1d(packed.ids, 'int32'), positions: tf.tensor1d(packed.positions, 'int32') };
    const { embedding } = model;
    expect(modelParameters(model)).toContain(embedding);
    const loss = (): tf.Scalar =>
      tf.sum(tf.square(forward(model, tokens, null, packedSequences(model.config, segments)))) as tf.Scalar;
    const [gradient] = tf.engine().gradients(loss, [embedding.value]).grads;
    return gradient === undefined ? [] : [...tf.sum(tf.abs(gradient), 1).dataSync()];
  });
}

it('reading the padding token trains every other row of the embeddings, as padding_idx does', async () => {
  const [pad, , , first, second] = await rowGradients(0);
  expect(pad).toBe(0);
  expect(Math.min(first ?? 0, second ?? 0)).toBeGreaterThan(0);
});

it('trains that row where the model names no padding token', async () => {
  expect((await rowGradients(null))[0]).toBeGreaterThan(0);
});
