import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { swiglu } from '../../../main/tensor/ops/swiglu.ts';
import { openTestBackends } from '../../backends.ts';
import { gradientError, randomTensor } from './finite-differences.ts';

describe.each(await openTestBackends())('swiglu on $name', (backend) => {
  beforeAll(backend.use);

  it('is silu(gate) * up', () => {
    const y = swiglu(tf.tensor2d([[0, 1, -1, 20]]), tf.tensor2d([[5, 2, 2, 0.5]])).dataSync();
    [0, 1.4621172, -0.5378828, 10].forEach((value, i) => {
      expect(y[i]).toBeCloseTo(value, 5);
    });
  });

  it('saturates without overflow', () => {
    const y = swiglu(tf.tensor2d([[-200, 200]]), tf.tensor2d([[3, 3]])).dataSync();
    expect(Math.abs(y[0] ?? Number.NaN)).toBeLessThan(1e-30);
    expect(y[1]).toBe(600);
  });

  it('has the gradients of finite differences', () => {
    expect(gradientError(swiglu, [tf.mul(3, randomTensor([3, 8], 1)), randomTensor([3, 8], 2)])).toBeLessThan(1e-3);
  });
});
