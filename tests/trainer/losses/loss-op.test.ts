import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { grpoLoss } from '../../../main/trainer/losses/loss-op.ts';
import { openTestBackends } from '../../backends.ts';

const normaliser = { maxCompletionLength: 2, numItemsInBatch: 3, gradientAccumulationSteps: 1, stepsPerGeneration: 1 };
const config = parseConfig({});

describe.each(await openTestBackends())('grpoLoss on $name', (backend) => {
  beforeAll(backend.use);
  const constants = { oldLogps: null, refLogps: null, advantages: [1, -1], mask: [1, 1, 1, 0] };

  it('differentiates through the op that made the log-probabilities', () => {
    const weight = tf.tensor2d([0.5, 1, 1.5, 2], [2, 2]);
    const entropies = tf.zeros<tf.Rank.R2>([2, 2]);
    const before = tf.memory().numTensors;
    const { value, grad } = tf.valueAndGrad(
      (w) => grpoLoss({ logps: tf.mul(w, -3) as tf.Tensor2D, entropies, ...constants }, normaliser, config).loss,
    )(weight);
    // dapo: Σ m·(−A)/3; dL/dw = −3 · (−A/3).
    expect(value.dataSync()[0]).toBeCloseTo((-1 - 1 + 1) / 3, 6);
    expect([...grad.dataSync()]).toEqual([1, 1, -1, -0]);
    tf.dispose([value, grad]);
    expect(tf.memory().numTensors).toBe(before);
    tf.dispose([weight, entropies]);
  });

  it('sends a gradient into the entropies with a bonus, and none without', () => {
    const logps = tf.tensor2d([-1, -1, -1, -1], [2, 2]);
    const run = (entropy_coef: number): tf.Tensor =>
      tf.grad((e) => {
        const { loss } = grpoLoss(
          { logps: tf.mul(logps, 1) as tf.Tensor2D, entropies: e as tf.Tensor2D, ...constants },
          normaliser,
          { ...config, entropy_coef },
        );
        return tf.add(loss, tf.mul(0, tf.sum(e)));
      })(tf.tensor2d([0.5, 1, 1.5, 2], [2, 2]));
    const third = Math.fround(-0.3 / 3);
    expect([...run(0.3).dataSync()]).toEqual([third, third, third, 0]);
    expect([...run(0).dataSync()]).toEqual([0, 0, 0, 0]);
  });

  it('takes tensors or host values and gives the metrics', () => {
    const logps = tf.tensor2d([-1, -1, -1, -1], [2, 2]);
    const entropies = tf.tensor2d([0.3, 0.6, 0.9, 7], [2, 2]);
    const host = grpoLoss({ logps, entropies, ...constants }, normaliser, config);
    const device = grpoLoss(
      {
        logps,
        entropies,
        oldLogps: logps,
        refLogps: null,
        advantages: tf.tensor1d([1, -1]),
        mask: tf.tensor2d([1, 1, 1, 0], [2, 2], 'int32'),
      },
      normaliser,
      config,
    );
    expect(host.metrics.entropy).toBeCloseTo(0.6, 6);
    expect(device.metrics).toEqual(host.metrics);
    expect(device.loss.dataSync()).toEqual(host.loss.dataSync());
  });

  it('rejects entropies of another shape', () => {
    const logps = tf.zeros<tf.Rank.R2>([2, 2]);
    expect(() =>
      grpoLoss({ logps, entropies: tf.zeros<tf.Rank.R2>([2, 3]), ...constants }, normaliser, config),
    ).toThrow('Expected entropies [2, 2] like logps, got [2, 3]');
  });
});
