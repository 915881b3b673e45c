import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { sigmoidGate } from '../../../main/tensor/ops/sigmoid-gate.ts';
import { openTestBackends } from '../../backends.ts';
import { gradientError, randomTensor } from './finite-differences.ts';

describe.each(await openTestBackends())('sigmoidGate on $name', (backend) => {
  beforeAll(backend.use);

  it('is σ(gate) * up', () => {
    const y = sigmoidGate(tf.tensor2d([[0, 1, -1, 200, -200]]), tf.tensor2d([[5, 2, 2, 0.5, 3]])).dataSync();
    [2.5, 1.4621172, 0.5378828, 0.5, 0].forEach((value, i) => {
      expect(y[i]).toBeCloseTo(value, 5);
    });
  });

  it('has the gradients of finite differences', () => {
    const inputs = [tf.mul(3, randomTensor([3, 8], 1)), randomTensor([3, 8], 2)];
    expect(gradientError(sigmoidGate, inputs)).toBeLessThan(1e-3);
  });
});
