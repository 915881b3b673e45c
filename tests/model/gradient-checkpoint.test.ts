import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import { forward } from '../../main/model/decoder.ts';
import { type Adapter, adapterParameters, createAdapter, disposeAdapter } from '../../main/model/lora.ts';
import { disposeModel, type Model, modelParameters } from '../../main/model/model.ts';
import { packedSequences } from '../../main/model/sequences.ts';
import { selectiveLogSoftmax } from '../../main/tensor/ops/log-softmax.ts';
import { openTestBackends, tensorsLeft } from '../backends.ts';
import { tinyModel } from './tiny.ts';

// Two completions of two and three tokens that share a prompt of four.
const IDS = [3, 4, 5, 6, 7, 8, 9, 10, 11];
const POSITIONS = [0, 1, 2, 3, 4, 5, 4, 5, 6];
const SEGMENTS = [0, 4, 0, 0, 4, 2, 0, 4, 6, 3, 0, 4];
const TARGETS = [4, 5, 6, 7, 8, 9, 10, 11, 2];

/** The mean negative log-probability and its gradient by every trained parameter. */
function gradients(model: Model, adapter: Adapter | null, checkpointing: boolean): { loss: number; grads: number[][] } {
  return tf.tidy(() => {
    const parameters = adapter === null ? modelParameters(model) : adapterParameters(adapter);
    const segments = tf.tensor2d(SEGMENTS, [3, 4], 'int32');
    const batch = { ids: tf.tensor1d(IDS, 'int32'), positions: tf.tensor1d(POSITIONS, 'int32') };
    const targets = tf.tensor1d(TARGETS, 'int32');
    const { value, grads } = tf.engine().gradients(
      () => {
        const hidden = forward(model, batch, adapter, packedSequences(model.config, segments), { checkpointing });
        const options = { temperature: 1, trainWeight: adapter === null };
        return tf.neg(tf.mean(selectiveLogSoftmax(hidden, model.head.value, targets, options).logps));
      },
      parameters.map((parameter) => parameter.value),
    );
    return { loss: value.dataSync()[0] as number, grads: grads.map((grad) => Array.from(grad.dataSync())) };
  });
}

function largestDifference(a: readonly number[][], b: readonly number[][]): number {
  return Math.max(...a.flatMap((row, i) => row.map((value, j) => Math.abs(value - (b[i]?.[j] ?? Number.NaN)))));
}

const LORA = { r: 2, alpha: 4, targetModules: ['q_proj', 'up_proj'], useRslora: false };

for (const backend of await openTestBackends()) {
  describe(`forward with checkpointing, ${backend.name}`, () => {
    it('gives the gradients of every weight that it gives without', async () => {
      await backend.use();
      const model = tinyModel();
      const [plain, saving] = [gradients(model, null, false), gradients(model, null, true)];
      disposeModel(model);
      expect(saving.loss).toBe(plain.loss);
      expect(plain.grads.flat().some((value) => Math.abs(value) > 1e-3)).toBe(true);
      expect(largestDifference(plain.grads, saving.grads)).toBeLessThan(1e-6);
    });

    it('gives the gradients of an adapter, and keeps no tensor', async () => {
      await backend.use();
      const model = tinyModel();
      const adapter = createAdapter(model, LORA, 1);
      const left = tensorsLeft(() => {
        const [plain, saving] = [gradients(model, adapter, false), gradients(model, adapter, true)];
        expect(plain.grads.flat().some((value) => value !== 0)).toBe(true);
        expect(largestDifference(plain.grads, saving.grads)).toBeLessThan(1e-6);
      });
      expect(left).toBe(0);
      disposeAdapter(adapter);
      disposeModel(model);
    });
  });
}
