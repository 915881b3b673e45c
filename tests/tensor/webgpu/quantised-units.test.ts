/** Training's products with weights of 8 and 4 bits on matrix units: emulated where an adapter has none. */
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, describe, expect, it } from 'vitest';
import { closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import { makeWeight } from '../../../main/tensor/weights.ts';
import { randomTensor } from '../ops/finite-differences.ts';
import { emulateUnits } from './emulated-units.ts';
import { opened, openGpuForTest } from './open.ts';
import { sixteenBits } from './sixteen-bits.ts';

const gpu = await openGpuForTest();
afterAll(async () => void (gpu !== null && (await closeWebGpuBackend(gpu))));
// Edges of tiles, and as little work as units are asked for.
const [M, N, K] = [60, 552, 128];

describe.runIf(gpu !== null)('products with quantised weights on matrix units', () => {
  if (gpu !== null && !gpu.gpu.matrixUnits) emulateUnits(gpu);

  it.each([
    ['nf4', true],
    ['int8', false],
  ] as const)('are those without units: %s, transposed %s', (precision, transposed) => {
    const { gpu: device } = opened(gpu);
    const shape = transposed ? [N, K] : [K, N];
    const source = sixteenBits(randomTensor([N * K], 1).dataSync<'float32'>(), 'F32');
    const weight = makeWeight(source, shape, precision) as tf.Tensor2D;
    const x = randomTensor<tf.Rank.R2>([M, K], 2);
    const [units, plain] = [true, false].map((matrixUnits) => {
      device.matrixUnits = matrixUnits;
      return tf.tidy(() => tf.matMul(x, weight, false, transposed).dataSync<'float32'>());
    });
    const worst = Math.max(...(units ?? []).map((value, i) => Math.abs(value - (plain?.[i] ?? Number.NaN))));
    // Terms of a product add up to K / 4 regardless of sign: a millionth of that, as for 16 bits.
    expect(worst).toBeLessThan(1e-6 * (K / 4));
    expect([...device.counts.byProgram.keys()].some((name) => name.includes('by units'))).toBe(true);
    tf.dispose([x, weight]);
  });
});
