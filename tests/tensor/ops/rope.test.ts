import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { rope } from '../../../main/tensor/ops/rope.ts';
import { openTestBackends } from '../../backends.ts';
import { gradientError, randomTensor } from './finite-differences.ts';

/** Tables of a head of 8: angle = position * (j + 1) / 10. */
function tables() {
  const angles = tf.mul(tf.reshape(tf.range(0, 6), [6, 1]), tf.tensor2d([[0.1, 0.2, 0.3, 0.4]]));
  return { cos: tf.cos(angles) as tf.Tensor2D, sin: tf.sin(angles) as tf.Tensor2D };
}

describe.each(await openTestBackends())('rope on $name', (backend) => {
  beforeAll(backend.use);

  it('turns the first half of each head against its second half', () => {
    const x = tf.tensor2d([[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0]]);
    const y = rope(x, tf.tensor1d([5], 'int32'), tables(), 8).dataSync();
    const expected = new Array(16).fill(0);
    // Head 0 turns (1, 0) by 0.5; head 1 turns (0, 2), its second pair, by 1.
    [expected[0], expected[4]] = [Math.cos(0.5), Math.sin(0.5)];
    [expected[9], expected[13]] = [-2 * Math.sin(1), 2 * Math.cos(1)];
    expected.forEach((value, i) => {
      expect(y[i]).toBeCloseTo(value, 5);
    });
  });

  it('leaves position 0 as it is', () => {
    const x = randomTensor<tf.Rank.R2>([1, 16], 3);
    expect([...rope(x, tf.tensor1d([0], 'int32'), tables(), 8).dataSync()]).toEqual([...x.dataSync()]);
  });

  it('has the gradient of finite differences', () => {
    const positions = tf.tensor1d([0, 3, 5], 'int32');
    const f = (x: tf.Tensor2D): tf.Tensor => rope(x, positions, tables(), 8);
    expect(gradientError(f, [randomTensor([3, 16], 4)])).toBeLessThan(1e-3);
  });
});
