import '@tensorflow/tfjs-backend-cpu';
import '../../../main/tensor/gradients.ts';
import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import type { ModelConfig } from '../../../main/model/config.ts';
import { randomModel } from '../../../main/model/load.ts';
import { adapterParameters, createAdapter, disposeAdapter } from '../../../main/model/lora.ts';
import { disposeModel } from '../../../main/model/model.ts';
import { openWholeSteps } from '../../../main/trainer/jobs/gpu-report/whole-step.ts';
import { SMALL } from '../../small-config.ts';

const CONFIG: ModelConfig = {
  ...SMALL,
  vocabSize: 40,
  hiddenSize: 16,
  intermediateSize: 24,
  numHeads: 2,
  numKvHeads: 1,
  headDim: 8,
  tieWordEmbeddings: true,
};

describe('openWholeSteps', () => {
  it('changes the adapter with every step, and leaves nothing behind', async () => {
    await tf.setBackend('cpu');
    const before = tf.memory().numTensors;
    const model = randomModel(CONFIG, 3, 32);
    const lora = { r: 2, alpha: 4, targetModules: ['q_proj', 'down_proj'], useRslora: false };
    const adapter = createAdapter(model, lora, 5);
    const held = tf.memory().numTensors;
    const values = (): number[] => adapterParameters(adapter).flatMap(({ value }) => [...value.dataSync()]);
    const steps = openWholeSteps(model, adapter, [5, 9, 33], { rows: 4, decoded: 3 });
    const seen = [values()];
    for (let i = 0; i < 2; i++) {
      expect(steps.step()).toBe(true);
      seen.push(values());
    }
    expect(seen[1]).not.toEqual(seen[0]);
    expect(seen[2]).not.toEqual(seen[1]);
    steps.dispose();
    expect(tf.memory().numTensors).toBe(held);
    disposeAdapter(adapter);
    disposeModel(model);
    expect(tf.memory().numTensors).toBe(before);
  });
});
