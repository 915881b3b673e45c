import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { gelu } from '../../../main/tensor/ops/gelu.ts';
import { layerNorm } from '../../../main/tensor/ops/layer-norm.ts';
import { openTestBackends } from '../../backends.ts';
import { randomTensor } from './finite-differences.ts';

describe.each(await openTestBackends())('what encoders are made of, on $name', (backend) => {
  beforeAll(backend.use);

  it('layerNorm centres and scales each row, however wide', () => {
    for (const width of [1, 6, 36]) {
      const [x, weight, bias] = [randomTensor([5, width], 1), randomTensor([width], 2), randomTensor([width], 3)];
      const [rows, w, b] = [x.arraySync() as number[][], weight.arraySync() as number[], bias.arraySync() as number[]];
      const expected = rows.flatMap((row) => {
        const mean = row.reduce((sum, value) => sum + value, 0) / width;
        const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / width;
        return row.map((value, d) => ((value - mean) / Math.sqrt(variance + 0.01)) * (w[d] ?? 0) + (b[d] ?? 0));
      });
      const got = layerNorm(x as tf.Tensor2D, weight as tf.Tensor1D, bias as tf.Tensor1D, 0.01).dataSync();
      expected.forEach((value, i) => {
        expect(got[i]).toBeCloseTo(value, 5);
      });
    }
  });

  it('gelu is x · Φ(x) within 1e-6, far out too', () => {
    const y = gelu(tf.tensor2d([[0, 1, -1, 0.5, -2, 3, -9, 30, 1e-3]])).dataSync();
    const expected = [0, 0.84134475, -0.15865525, 0.34573123, -0.04550026, 2.9959503, 0, 30, 0.00050039894];
    expected.forEach((value, i) => {
      expect(Math.abs((y[i] ?? Number.NaN) - value)).toBeLessThan(1e-6);
    });
  });
});
