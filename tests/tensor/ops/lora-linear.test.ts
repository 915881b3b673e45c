import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { loraLinear } from '../../../main/tensor/ops/lora-linear.ts';
import { openTestBackends } from '../../backends.ts';
import { gradientError, randomTensor } from './finite-differences.ts';

const matrix = (shape: [number, number], seed: number) => randomTensor(shape, seed) as tf.Tensor2D;

describe.each(await openTestBackends())('loraLinear on $name', (backend) => {
  beforeAll(backend.use);

  it("is the layer's product and the adapter's, scaled", () => {
    const [weight, a, b] = [
      tf.tensor2d([
        [1, 2],
        [3, 4],
        [5, 6],
      ]),
      tf.tensor2d([[1, 0]]),
      tf.tensor2d([[1], [0], [2]]),
    ];
    const y = loraLinear(
      tf.tensor2d([
        [1, 1],
        [2, 0],
      ]),
      weight,
      a,
      b,
      0.5,
    ).arraySync();
    expect(y).toEqual([
      [3.5, 7, 12],
      [3, 6, 12],
    ]);
  });

  it.each([...[1, 3, 16, 70].map((rows) => [rows, 50]), [130, 250], [52, 8000]])(
    'is the same as by single products with %i rows to %i columns',
    (rows = 1, out = 1) => {
      const x = matrix([rows, 40], 1);
      const [weight, a, b] = [matrix([out, 40], 2), matrix([5, 40], 3), matrix([out, 5], 4)];
      const low = tf.mul(tf.matMul(x, a, false, true), 2);
      const expected = tf.add(tf.matMul(x, weight, false, true), tf.matMul(low, b, false, true));
      const difference = tf.max(tf.abs(tf.sub(loraLinear(x, weight, a, b, 2), expected))).dataSync()[0];
      expect(difference).toBeLessThan(1e-4);
    },
  );

  it('has the gradients of finite differences', () => {
    const weight = matrix([6, 8], 4);
    const op = (x: tf.Tensor2D, a: tf.Tensor2D, b: tf.Tensor2D) => loraLinear(x, weight, a, b, 0.5);
    expect(gradientError(op, [matrix([3, 8], 1), matrix([2, 8], 2), matrix([6, 2], 3)])).toBeLessThan(1e-3);
  });
});
