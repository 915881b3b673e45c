/** Products with weights of 16, 8 and 4 bits on matrix units of several kinds: emulated where an adapter has none. */
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { registerBfloat16, setComputeDtype } from '../../../main/tensor/compute-dtype.ts';
import { runOp } from '../../../main/tensor/portable.ts';
import { WEBGPU_BACKEND } from '../../../main/tensor/webgpu/backend.ts';
import { closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import { makeWeight } from '../../../main/tensor/weights.ts';
import { randomTensor } from '../ops/finite-differences.ts';
import { emulateUnits } from './emulated-units.ts';
import { byUnits, opened, openGpuForTest } from './open.ts';
import { sixteenBits } from './sixteen-bits.ts';
import { APPLE, INTEL, NVIDIA, WIDE } from './units.ts';

const gpu = await openGpuForTest();
afterAll(async () => void (gpu !== null && (await closeWebGpuBackend(gpu))));
const own = gpu?.gpu.matrixUnit ?? NVIDIA;

// Edges of tiles, and as little work as units are asked for.
const MANY = [60, 552, 128] as const;
const FEW = [13, 648, 512] as const;
const NF4 = ['F32', 'nf4'] as const;
const INT8 = ['F32', 'int8'] as const;
const BF16 = ['BF16', 'stored'] as const;
const F16 = ['F16', 'stored'] as const;

describe.runIf(gpu !== null)('products on matrix units', () => {
  if (gpu !== null) emulateUnits(gpu, own);
  registerBfloat16(WEBGPU_BACKEND, null);

  afterEach(() => setComputeDtype('float32'));

  // Terms of a product add up to K / 4 regardless of sign: a millionth of that on all units; eleven bits of both factors,
  // where a run computes in bfloat16, which those of float32 don't.
  it.each([
    ['NVIDIA, nf4, transposed', own, NF4, MANY, true, 'float32', [0, 1e-6]],
    ['NVIDIA, int8', own, INT8, MANY, false, 'float32', [0, 1e-6]],
    ['NVIDIA, nf4, transposed, rounded', own, NF4, MANY, true, 'bfloat16', [2e-6, 2e-4]],
    ['Apple, bfloat16, transposed, not rounded', APPLE, BF16, MANY, true, 'bfloat16', [-1, 1e-6]],
    ['Apple, nf4, few rows', APPLE, NF4, FEW, false, 'float32', [-1, 1e-6]],
    ['subgroups of 64, float16', WIDE, F16, MANY, false, 'float32', [0, 1e-6]],
    ['Intel, int8, transposed', INTEL, INT8, MANY, true, 'float32', [0, 1e-6]],
  ] as const)('are those without: %s', (_, unit, [type, precision], [m, n, k], transposed, dtype, [least, most]) => {
    const { gpu: device } = opened(gpu);
    const source = sixteenBits(randomTensor([n * k], 1).dataSync<'float32'>(), type);
    const weight = makeWeight(source, transposed ? [n, k] : [k, n], precision) as tf.Tensor2D;
    const x = randomTensor<tf.Rank.R2>([m, k], 2);
    const before = byUnits(opened(gpu));
    const [units, plain] = [unit, null].map((used) => {
      device.matrixUnit = used;
      setComputeDtype(used === null ? 'float32' : dtype);
      return tf.tidy(() => tf.matMul(x, weight, false, transposed).dataSync<'float32'>());
    });
    const worst = Math.max(...(units ?? []).map((value, i) => Math.abs(value - (plain?.[i] ?? Number.NaN))));
    expect(worst).toBeGreaterThan(least * (k / 4));
    expect(worst).toBeLessThan(most * (k / 4));
    expect(byUnits(opened(gpu))).toBe(before + 1);
    tf.dispose([x, weight]);
  });

  // Small numbers of both adapter's matrices, and ranks that are several panels or no whole vectors.
  it.each([
    ['NVIDIA, int8', own, INT8, [40, 576, 192], 20, 'float32', [0, 1e-6]],
    ['NVIDIA, bfloat16, rounded', own, BF16, [40, 576, 192], 36, 'bfloat16', [2e-6, 2e-4]],
    ['Apple, bfloat16, few rows', APPLE, BF16, [13, 640, 512], 5, 'float32', [-1, 1e-6]],
  ] as const)('add an adapter to a tile: %s', (_, unit, [type, precision], [m, n, k], r, dtype, [least, most]) => {
    const { gpu: device } = opened(gpu);
    const weight = makeWeight(sixteenBits(randomTensor([n * k], 1).dataSync<'float32'>(), type), [n, k], precision);
    const [x, dy] = [randomTensor([m, k], 2), randomTensor([m, n], 3)];
    const [a, b] = [tf.mul(randomTensor([r, k], 4), 1e-3), tf.mul(randomTensor([n, r], 5), 1e-6)];
    // As much as the layer's own product.
    const scaling = 1e9 / r;
    const before = byUnits(opened(gpu), '+ low rank');
    const [units, plain] = [unit, null].map((used) => {
      device.matrixUnit = used;
      setComputeDtype(used === null ? 'float32' : dtype);
      return tf.tidy(() => {
        const y = runOp<tf.Tensor>('LoraLinear', { x, weight, a, b }, { scaling });
        const dLow = runOp<tf.Tensor>('LoraLinearGradLow', { dy, b }, { scaling });
        const dx = runOp<tf.Tensor>('LoraLinearGradX', { dy, dLow, weight, a });
        return [y, dx].map((found) => found.dataSync<'float32'>());
      });
    });
    [k, n].forEach((terms, i) => {
      const worst = Math.max(...(units?.[i] ?? []).map((v, j) => Math.abs(v - (plain?.[i]?.[j] ?? Number.NaN))));
      expect(worst).toBeGreaterThan(least * (terms / 4));
      expect(worst).toBeLessThan(most * (terms / 4));
    });
    // Where K of transposes is in slices, what adds those up adds it.
    expect(byUnits(opened(gpu), '+ low rank')).toBe(before + (m > 16 ? 2 : 1));
    tf.dispose([x, dy, weight, a, b]);
  });
});
