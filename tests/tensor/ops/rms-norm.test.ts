import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { rmsNorm } from '../../../main/tensor/ops/rms-norm.ts';
import { openTestBackends, tensorsLeft } from '../../backends.ts';
import { gradientError, randomTensor } from './finite-differences.ts';

describe.each(await openTestBackends())('rmsNorm on $name', (backend) => {
  beforeAll(backend.use);

  it('divides each row by its root mean square and weighs its columns', () => {
    const x = tf.tensor2d([3, 4, 0, 0, 1, 1, 1, -1], [2, 4]);
    const y = rmsNorm(x, tf.tensor1d([1, 2, 3, 4]), 0).dataSync();
    // The first row's rms is sqrt(25 / 4) = 2.5.
    [1.2, 3.2, 0, 0, 1, 2, 3, -4].forEach((value, i) => {
      expect(y[i]).toBeCloseTo(value, 5);
    });
  });

  it('adds eps under the root, so that a row of zeros stays zero', () => {
    expect([...rmsNorm(tf.zeros([1, 4]), tf.ones([4]), 1e-6).dataSync()]).toEqual([0, 0, 0, 0]);
    expect(rmsNorm(tf.tensor2d([[1, 1]]), tf.ones([2]), 3).dataSync()[0]).toBeCloseTo(0.5, 6);
  });

  it('has the gradients of finite differences', () => {
    const f = (x: tf.Tensor2D, weight: tf.Tensor1D): tf.Tensor => rmsNorm(x, weight, 1e-5);
    expect(gradientError(f, [randomTensor([3, 8], 1), randomTensor([8], 2)])).toBeLessThan(1e-3);
  });

  it('leaves no tensors', () => {
    const [x, weight] = [randomTensor<tf.Rank.R2>([3, 8], 1), randomTensor<tf.Rank.R1>([8], 2)];
    const run = (): void => {
      tf.dispose(tf.grads((a, b) => rmsNorm(a as tf.Tensor2D, b as tf.Tensor1D, 1e-5))([x, weight]));
    };
    expect(tensorsLeft(run)).toBe(0);
  });
});
