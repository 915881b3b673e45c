import '@tensorflow/tfjs-backend-cpu';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import '../../../main/tensor/gradients.ts';
import { createAdapter, disposeAdapter } from '../../../main/model/lora.ts';
import { disposeModel } from '../../../main/model/model.ts';
import { disposeBatch, uploadGroups } from '../../../main/trainer/batching/packed-batch.ts';
import { LORA, promptOf, sampleRows, trainingPass } from '../../../main/trainer/jobs/gpu-report/timed-work.ts';
import { tensorsLeft } from '../../backends.ts';
import { tinyModel } from '../../model/tiny.ts';

beforeAll(async () => void (await tf.setBackend('cpu')));

describe('work that is timed', () => {
  it('leaves no tensors', () => {
    const left = tensorsLeft(() => {
      const model = tinyModel();
      const adapter = createAdapter(model, LORA, 1);
      const promptIds = promptOf(4, model.config.vocabSize);
      sampleRows(model, adapter, promptIds, { rows: 2, tokens: 3 });
      const batch = uploadGroups([{ promptIds, completions: [promptIds, promptIds] }]);
      trainingPass(model, adapter, batch);
      disposeBatch(batch);
      disposeAdapter(adapter);
      disposeModel(model);
    });
    expect(left).toBe(0);
  });
});
