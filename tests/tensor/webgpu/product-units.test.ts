/** Products on matrix units: their programs compile anywhere; their numbers are tested where an adapter has units. */
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { checkMatrixUnits } from '../../../main/tensor/webgpu/check-units.ts';
import { type UnitsKey, unitsProgram } from '../../../main/tensor/webgpu/kernels/product-units.ts';
import { MAXIMA, maximaProgram } from '../../../main/tensor/webgpu/kernels/units-scale.ts';
import { productMemory, tileOf } from '../../../main/tensor/webgpu/kernels/units-tile.ts';
import { GUARANTEED } from '../../../main/tensor/webgpu/limits.ts';
import type { MatrixUnit } from '../../../main/tensor/webgpu/matrix-units.ts';
import { abandonWebGpuBackend, closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import { makeWeight } from '../../../main/tensor/weights.ts';
import { randomTensor } from '../ops/finite-differences.ts';
import { compile } from './compiles.ts';
import { byUnits, opened, openGpuForTest } from './open.ts';
import { sixteenBits, toBfloat } from './sixteen-bits.ts';
import * as units from './units.ts';

const FLOATS = { format: 'f32', vectors: true } as const;
const KEYS: readonly UnitsKey[] = Object.values(units).flatMap((unit) =>
  (['large', 'few rows'] as const).flatMap((tile) =>
    [true, false].flatMap((transposed) => {
      const second = transposed ? null : { a: FLOATS, b: FLOATS };
      const key = { unit, tile, transposed, second, sliced: transposed, matrices: transposed ? 3 : 1 };
      return [
        ...(['bf16', 'f16', 'nf4', 'int8'] as const).map((format) => ({ ...key, format, rounded: false })),
        ...(unit.element === 'f16' ? [{ ...key, format: 'int8' as const, rounded: true }] : []),
      ];
    }),
  ),
);

describe('programs for matrix units', () => {
  it('are WGSL without a fault or a warning, in the memory that is counted for them', async () => {
    const found = await compile(KEYS.map(unitsProgram));
    KEYS.forEach((key, i) => {
      const memory = productMemory(tileOf(key.unit, key.tile), key);
      const expected = { messages: [], memory: memory > GUARANTEED.maxComputeWorkgroupStorageSize ? memory : null };
      expect(found[i], unitsProgram(key).wgsl).toEqual({ ...expected, fault: null });
    });
  });

  it('take no more than the 32 KiB of an Apple GPU', () => {
    const memories = KEYS.map((key) => productMemory(tileOf(key.unit, key.tile), key));
    expect(Math.max(...memories)).toBeLessThanOrEqual(32 * 1024);
  });
});

const gpu = await openGpuForTest();
afterAll(async () => void (gpu !== null && (await closeWebGpuBackend(gpu))));

describe.runIf(gpu !== null)('the largest number of x', () => {
  it.each([4, 1020, 280_004])('is found wherever it is among %i', (count) => {
    const { gpu: device } = opened(gpu);
    for (const place of [0, 1, Math.floor(count / 2), count - 1]) {
      const x = Float32Array.from({ length: count }, (_, i) => Math.sin(i));
      x[place] = place % 2 === 0 ? -7 : 7;
      const [input, maxima] = [device.take(4 * count), device.take(4 * MAXIMA)];
      device.upload(input, x.buffer);
      device.run(maximaProgram, [input, maxima], [count / 4], MAXIMA);
      expect(Math.max(...new Float32Array(device.read(maxima, 4 * MAXIMA)))).toBe(7);
      device.give(input);
      device.give(maxima);
    }
  });
});

describe.runIf(gpu !== null && gpu.gpu.matrixUnit === null)('an adapter that says it has units and has none', () => {
  it('is found out when it is opened, and multiplies without', () => {
    const backend = opened(gpu);
    backend.gpu.matrixUnit = units.NVIDIA;
    checkMatrixUnits(backend);
    expect(backend.gpu.matrixUnit).toBeNull();
    const { stored, floats } = weights(64, 64);
    const x = randomTensor<tf.Rank.R2>([16, 64], 1);
    const found = tf.matMul(x, stored, false, true);
    expect(error(found, x.dataSync<'float32'>(), floats, [16, 64, 64], true)).toBeLessThan(1e-6);
  });
});

describe.runIf(gpu !== null && gpu.gpu.matrixUnit === null)('units that are checked', () => {
  afterEach(() => vi.restoreAllMocks());

  // Other kernels stand in for them, and some of their work is left out.
  it.each([
    ['nothing', { products: true, attention: true }],
    ['low rank', { products: false, attention: false }],
    ['PackedAttentionGradQ', { products: true, attention: false }],
  ])('are left out of what they are wrong in: %s', (what, expected) => {
    const { gpu: device } = opened(gpu);
    const run = device.run.bind(device);
    let used: MatrixUnit | null = units.NVIDIA;
    vi.spyOn(device, 'run').mockImplementation((code, ...rest) => {
      if (used === null || !code.name.includes(what)) run(code, ...rest);
    });
    const get = vi.fn(() => null as MatrixUnit | null).mockReturnValueOnce(used);
    const set = (unit: MatrixUnit | null): void => {
      used = unit;
    };
    Object.defineProperty(device, 'matrixUnit', { configurable: true, get, set });
    checkMatrixUnits(opened(gpu));
    expect({ products: used !== null, attention: device.attentionByUnits }).toEqual(expected);
    Object.defineProperty(device, 'matrixUnit', { configurable: true, writable: true, value: null });
    device.attentionByUnits = true;
  });
});

/** Weights in ±0.1 as a file's bfloat16 numbers, and the same as floats. */
function weights(lines: number, length: number): { stored: tf.Tensor2D; floats: Float32Array } {
  const floats = toBfloat(
    randomTensor([lines, length], 3)
      .dataSync<'float32'>()
      .map((x) => 0.1 * x),
  );
  return { stored: makeWeight(sixteenBits(floats, 'BF16'), [lines, length], 'stored') as tf.Tensor2D, floats };
}

/** The largest distance from sums in double precision, of the largest sum of absolute values. */
function error(
  found: tf.Tensor,
  x: Float32Array,
  w: Float32Array,
  [m, k, n]: readonly [number, number, number],
  transposed: boolean,
): number {
  const y = found.dataSync<'float32'>();
  let [worst, scale] = [0, 0];
  for (let i = 0; i < m; i++)
    for (let j = 0; j < n; j += 5) {
      let [sum, size] = [0, 0];
      for (let l = 0; l < k; l++) {
        const term = (x[i * k + l] ?? 0) * (w[transposed ? j * k + l : l * n + j] ?? 0);
        sum += term;
        size += Math.abs(term);
      }
      worst = Math.max(worst, Math.abs((y[i * n + j] ?? Number.NaN) - sum));
      scale = Math.max(scale, size);
    }
  return worst / scale;
}

describe.runIf(gpu !== null && gpu.gpu.matrixUnit !== null)('products on matrix units', () => {
  // Few rows and many, with whole tiles and edges, K in slices and not; x of ordinary size, tiny, huge.
  it.each([
    [16, 1024, 1024],
    [5, 576, 1544],
    [64, 1536, 512],
    [90, 512, 584],
    [200, 128, 1000],
    // More rows than one band of workgroups.
    [1100, 256, 584],
  ])('are within a millionth of their terms: %i x %i x %i', (m, k, n) => {
    for (const size of [1, 1e-9, 1e9]) {
      const x = Float32Array.from(randomTensor([m, k], 1).dataSync<'float32'>(), (value) => size * value ** 3);
      for (const transposed of [true, false]) {
        const { stored, floats } = transposed ? weights(n, k) : weights(k, n);
        const before = byUnits(opened(gpu));
        const found = tf.matMul(tf.tensor2d(x, [m, k]), stored, false, transposed);
        expect(error(found, x, floats, [m, k, n], transposed)).toBeLessThan(1e-6);
        expect(byUnits(opened(gpu))).toBeGreaterThan(before);
      }
    }
  });
});

// Last, as it takes the backend away.
describe.runIf(gpu !== null)('a GPU that is lost while its units are checked', () => {
  it('is not taken for one without units', async () => {
    const backend = opened(await openGpuForTest());
    backend.gpu.matrixUnit = units.NVIDIA;
    backend.gpu.lose();
    expect(() => checkMatrixUnits(backend)).toThrow('The GPU went away');
    abandonWebGpuBackend(backend);
  });
});
