/** A decoding step's products: their programs compile; those for matrix units give what those without do. */
import type * as tf from '@tensorflow/tfjs-core';
import { afterAll, describe, expect, it } from 'vitest';
import { create, globals } from 'webgpu';
import { MATRIX_FEATURES } from '../../../main/tensor/webgpu/adapters.ts';
import {
  type DecodeProduct,
  decodeProduct,
  MOST_ROWS,
  productProgram,
  sumWords,
} from '../../../main/tensor/webgpu/kernels/decode-product.ts';
import { matrixOf } from '../../../main/tensor/webgpu/kernels/matrix.ts';
import { closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import type { GpuBuffer } from '../../../main/tensor/webgpu/pool.ts';
import { makeWeight } from '../../../main/tensor/weights.ts';
import { randomTensor } from '../ops/finite-differences.ts';
import { emulateUnits } from './emulated-units.ts';
import { opened, openGpuForTest } from './open.ts';
import { sixteenBits, toBfloat } from './sixteen-bits.ts';

const EPILOGUES = [
  ['store', 3],
  ['residual', 1],
  ['swiglu', 2],
] as const;

describe('programs of decoding products', () => {
  it('are WGSL without a fault, with as many buffers as WebGPU guarantees', async () => {
    Object.assign(globalThis, globals);
    // Dawn's device that computes nothing knows the language.
    const instance = create(['backend=null', 'enable-dawn-features=allow_unsafe_apis']);
    const adapter = await instance.requestAdapter({});
    const device = await adapter?.requestDevice({ requiredFeatures: MATRIX_FEATURES });
    if (device === undefined) throw new Error('Expected a device');
    const keys = EPILOGUES.flatMap(([epilogue, matrices]) =>
      (['bf16', 'f16', 'int8', 'nf4'] as const).flatMap((format) =>
        [true, false].flatMap((units) => {
          const weights = Array.from({ length: matrices }, () => ({ format, vectors: true }));
          // Rounded factors need the same of the rest.
          return [{ ...PLAIN, units, rounded: units && epilogue === 'store', epilogue, weights }];
        }),
      ),
    );
    for (const key of keys) {
      const { wgsl, writes } = productProgram(key);
      const { messages } = await device.createShaderModule({ code: wgsl }).getCompilationInfo();
      expect(messages.map(({ lineNum, message }) => `${lineNum}: ${message}`)).toEqual([]);
      expect(writes.length).toBeLessThanOrEqual(8);
    }
    device.destroy();
    await device.lost;
    expect([instance, adapter].length).toBe(2);
  });
});

const PLAIN = { rows: MOST_ROWS, rank: 8, bias: true, sliced: true, normed: true, next: true };

const gpu = await openGpuForTest();
afterAll(async () => void (gpu !== null && (await closeWebGpuBackend(gpu))));

const [K, RANK] = [576, 8];
/** Lines of all matrices, at least: units are asked for no less. */
const LINES = 488;
const TILES = Math.ceil(K / 64);

describe.runIf(gpu !== null)('products on matrix units', () => {
  const filled = (numbers: number, seed: number): GpuBuffer => {
    const { gpu: device } = opened(gpu);
    const buffer = device.take(4 * numbers);
    device.upload(buffer, randomTensor([numbers], seed).dataSync<'float32'>().slice().buffer);
    return buffer;
  };

  it.each([
    ['store', 3, 'stored'],
    ['residual', 1, 'nf4'],
    ['residual', 1, 'int8'],
    ['swiglu', 2, 'nf4'],
  ] as const)('leave what those without do: %s of %i, %s', (epilogue, matrices, precision) => {
    const backend = opened(gpu);
    const { gpu: device } = backend;
    const N = 4 * Math.ceil(LINES / matrices / 4);
    const weights = Array.from({ length: matrices }, (_, i) => {
      const floats = toBfloat(randomTensor([N, K], 10 + i).dataSync<'float32'>());
      return makeWeight(sixteenBits(floats, 'BF16'), [N, K], precision) as tf.Tensor2D;
    });
    const wide = MOST_ROWS * Math.max(K, matrices * N);
    const low = (MOST_ROWS * K) / 4;
    const next = wide / 2;
    const extra = filled(matrices * N * (RANK + 1) + N + RANK * N, 3);
    const x = filled(MOST_ROWS * K + TILES * MOST_ROWS * (matrices * RANK + 4), 4);
    const results = [true, false].map((units) => {
      device.matrixUnits = units;
      const matrices_ = weights.map((weight) => matrixOf(backend, weight, true));
      const words = sumWords(backend, matrices_, MOST_ROWS, epilogue === 'swiglu');
      expect(words).toBeGreaterThan(0);
      const sums = device.take(4 * words);
      device.clear(sums, 0, words);
      const size = 2 * wide + 16 * MOST_ROWS * (RANK + 4);
      const out = filled(size + 4, 5);
      const call: DecodeProduct = {
        x: { buffer: x, at: 0, parts: TILES, squares: low, low: low + 4 * TILES, lines: (matrices * RANK) / 4 },
        ...{ rows: 13, room: MOST_ROWS, weights: matrices_, extra, epilogue, out, sums },
        eps: epilogue === 'residual' ? null : 10,
        low: { b: 0, rank: RANK, scale: 0.5 },
        bias: epilogue === 'swiglu' ? null : (matrices * N * RANK) / 4,
        place: { at: 0, width: epilogue === 'store' ? matrices * N : N / 4 },
        norm: { gain: (matrices * N * (RANK + 1)) / 4, at: wide / 4, squares: next },
        next:
          epilogue === 'store'
            ? null
            : { a: (matrices * N * (RANK + 1) + N) / 4, low: next + 4 * MOST_ROWS, lines: RANK / 4 },
      };
      // Twice: what the first leaves of its slices would be seen.
      decodeProduct(backend, call);
      decodeProduct(backend, call);
      const numbers = new Float32Array(device.read(out, 4 * size));
      expect(new Uint32Array(device.read(sums, 4 * words)).every((word) => word === 0)).toBe(true);
      return numbers;
    });
    expect([...device.counts.byProgram.keys()].filter((name) => name.includes('by units')).length).toBeGreaterThan(0);
    const [units = new Float32Array(), plain = new Float32Array()] = results;
    const largest = Math.max(...plain.map(Math.abs));
    const worst = Math.max(...plain.map((value, i) => Math.abs(value - (units[i] ?? Number.NaN))));
    expect(worst / largest).toBeLessThan(1e-5);
  });

  if (gpu !== null && !gpu.gpu.matrixUnits) emulateUnits(gpu);
});
