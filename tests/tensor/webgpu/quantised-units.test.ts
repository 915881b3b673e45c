/** Training's products with weights of 8 and 4 bits on matrix units: emulated where an adapter has none. */
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { registerBfloat16, setComputeDtype } from '../../../main/tensor/compute-dtype.ts';
import { WEBGPU_BACKEND } from '../../../main/tensor/webgpu/backend.ts';
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
  registerBfloat16(WEBGPU_BACKEND, null);

  afterEach(() => setComputeDtype('float32'));

  // Terms of a product add up to K / 4 regardless of sign: a millionth of that, as for 16 bits; eleven bits of both
  // factors, where a run computes in bfloat16.
  it.each([
    ['nf4', true, 'float32', [0, 1e-6]],
    ['int8', false, 'float32', [0, 1e-6]],
    ['nf4', true, 'bfloat16', [2e-6, 2e-4]],
  ] as const)('are those without units: %s, transposed %s, in %s', (precision, transposed, dtype, [least, most]) => {
    const { gpu: device } = opened(gpu);
    const shape = transposed ? [N, K] : [K, N];
    const source = sixteenBits(randomTensor([N * K], 1).dataSync<'float32'>(), 'F32');
    const weight = makeWeight(source, shape, precision) as tf.Tensor2D;
    const x = randomTensor<tf.Rank.R2>([M, K], 2);
    const [units, plain] = [true, false].map((matrixUnits) => {
      device.matrixUnits = matrixUnits;
      setComputeDtype(matrixUnits ? dtype : 'float32');
      return tf.tidy(() => tf.matMul(x, weight, false, transposed).dataSync<'float32'>());
    });
    const worst = Math.max(...(units ?? []).map((value, i) => Math.abs(value - (plain?.[i] ?? Number.NaN))));
    expect(worst).toBeGreaterThan(least * (K / 4));
    expect(worst).toBeLessThan(most * (K / 4));
    expect([...device.counts.byProgram.keys()].some((name) => name.includes('by units'))).toBe(true);
    tf.dispose([x, weight]);
  });
});
