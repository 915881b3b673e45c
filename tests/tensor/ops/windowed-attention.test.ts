import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { packedAttention } from '../../../main/tensor/ops/attention.ts';
import { longestSequence, windowedAttention } from '../../../main/tensor/ops/windowed-attention.ts';
import { openTestBackends } from '../../backends.ts';
import { gradientError, randomTensor } from './finite-differences.ts';

const SHAPE = { numHeads: 2, numKvHeads: 1, headDim: 4, scale: 0.5 };
const matrix = (rows: number, columns: number, seed: number) => randomTensor([rows, columns], seed) as tf.Tensor2D;

describe.each(await openTestBackends())('windowedAttention on $name', (backend) => {
  beforeAll(backend.use);
  // A prompt of 3 with a completion of 2, then a sequence of its own.
  const segments = (): tf.Tensor2D =>
    tf.tensor2d(
      [
        [0, 3, 0, 0],
        [3, 2, 0, 3],
        [5, 3, 0, 0],
      ],
      [3, 4],
      'int32',
    );
  const inputs = (): tf.Tensor2D[] => [matrix(8, 8, 1), matrix(8, 4, 2), matrix(8, 4, 3)];
  const attend = (window: number) => (q: tf.Tensor2D, k: tf.Tensor2D, v: tf.Tensor2D) =>
    windowedAttention(q, k, v, segments(), { ...SHAPE, window });

  it('is full attention where the window is as long as the longest sequence', () => {
    expect(longestSequence(segments())).toBe(5);
    const [q, k, v] = inputs() as [tf.Tensor2D, tf.Tensor2D, tf.Tensor2D];
    const difference = tf.sub(attend(5)(q, k, v), packedAttention(q, k, v, segments(), SHAPE));
    expect(tf.max(tf.abs(difference)).dataSync()[0]).toBeLessThan(1e-5);
  });

  it('sees the token itself alone with a window of one', () => {
    const [q, k, v] = inputs() as [tf.Tensor2D, tf.Tensor2D, tf.Tensor2D];
    const difference = tf.sub(attend(1)(q, k, v), tf.concat([v, v], 1));
    expect(tf.max(tf.abs(difference)).dataSync()[0]).toBeLessThan(1e-6);
  });

  it('has the gradients of finite differences', () => {
    expect(gradientError(attend(2), inputs())).toBeLessThan(1e-3);
  });
});
