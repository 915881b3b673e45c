import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { geglu } from '../../../main/tensor/ops/geglu.ts';
import { openTestBackends } from '../../backends.ts';
import { gradientError, randomTensor } from './finite-differences.ts';

describe.each(await openTestBackends())('geglu on $name', (backend) => {
  beforeAll(backend.use);

  it('is gelu(gate) * up', () => {
    const y = geglu(tf.tensor2d([[0, 1, -1, 20]]), tf.tensor2d([[5, 2, 2, 0.5]])).dataSync();
    // 0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))
    [0, 1.682384, -0.317616, 10].forEach((value, i) => {
      expect(y[i]).toBeCloseTo(value, 5);
    });
  });

  it('saturates without overflow', () => {
    const y = geglu(tf.tensor2d([[-20, 20]]), tf.tensor2d([[3, 3]])).dataSync();
    expect(Math.abs(y[0] ?? Number.NaN)).toBeLessThan(1e-30);
    expect(y[1]).toBe(60);
  });

  it('has the gradients of finite differences', () => {
    expect(gradientError(geglu, [tf.mul(2, randomTensor([3, 8], 1)), randomTensor([3, 8], 2)])).toBeLessThan(1e-3);
  });
});
