import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { gatherRows } from '../../../main/tensor/ops/rows.ts';
import { openTestBackends } from '../../backends.ts';
import { gradientError, randomTensor } from './finite-differences.ts';

describe.each(await openTestBackends())('gatherRows on $name', (backend) => {
  beforeAll(backend.use);

  it('picks rows, and zeros for index -1', () => {
    const table = tf.tensor2d([1, 2, 3, 4, 5, 6], [3, 2]);
    const picked = gatherRows(table, tf.tensor1d([2, -1, 0, 2], 'int32'));
    expect([...picked.dataSync()]).toEqual([5, 6, 0, 0, 1, 2, 5, 6]);
  });

  it('adds the gradients of a row that was picked twice and gives none for index -1', () => {
    const indices = tf.tensor1d([2, -1, 0, 2], 'int32');
    const gradient = tf.grad((x) => gatherRows(x as tf.Tensor2D, indices))(tf.ones([3, 2]));
    expect([...gradient.dataSync()]).toEqual([1, 1, 0, 0, 2, 2]);
  });

  it('gives none for the frozen row, whose values are picked like others', () => {
    const indices = tf.tensor1d([2, 1, 0, 2, 1], 'int32');
    expect([...gatherRows(tf.tensor2d([1, 2, 3], [3, 1]), indices, 2).dataSync()]).toEqual([3, 2, 1, 3, 2]);
    const gradient = tf.grad((x) => gatherRows(x as tf.Tensor2D, indices, 2))(tf.ones([3, 1]));
    expect([...gradient.dataSync()]).toEqual([1, 2, 0]);
  });

  it('has the gradient of finite differences', () => {
    const indices = tf.tensor1d([4, 1, 1, -1, 0], 'int32');
    const f = (x: tf.Tensor2D): tf.Tensor => gatherRows(x, indices);
    expect(gradientError(f, [randomTensor([5, 3], 4)])).toBeLessThan(1e-3);
  });
});
