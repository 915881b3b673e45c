/** A decoding step's products: their programs compile; those for matrix units give what those without do. */
import type * as tf from '@tensorflow/tfjs-core';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { finishNumbers } from '../../../main/tensor/webgpu/kernels/decode-finish.ts';
import {
  type DecodeProduct,
  MOST_ROWS,
  openProduct,
  type ProductKey,
  productProgram,
  sumWords,
} from '../../../main/tensor/webgpu/kernels/decode-product.ts';
import { unitsMemory } from '../../../main/tensor/webgpu/kernels/decode-units.ts';
import { type Matrix, matrixOf } from '../../../main/tensor/webgpu/kernels/matrix.ts';
import type { UnitsFormat } from '../../../main/tensor/webgpu/kernels/units-weights.ts';
import { closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import type { GpuBuffer } from '../../../main/tensor/webgpu/pool.ts';
import { makeWeight } from '../../../main/tensor/weights.ts';
import { randomTensor } from '../ops/finite-differences.ts';
import { type Compiled, compile } from './compiles.ts';
import { emulateUnits } from './emulated-units.ts';
import { byUnits, opened, openGpuForTest } from './open.ts';
import { sixteenBits, toBfloat } from './sixteen-bits.ts';
import * as allUnits from './units.ts';
import { APPLE, INTEL, NVIDIA, WIDE } from './units.ts';

const EPILOGUES = [
  ['store', 3],
  ['residual', 1],
  ['swiglu', 2],
] as const;

describe('programs of decoding products', () => {
  it('are WGSL without a fault, with as many buffers as WebGPU guarantees', async () => {
    const keys = EPILOGUES.flatMap(([epilogue, matrices]) =>
      (['bf16', 'f16', 'int8', 'nf4'] as const).flatMap((format) =>
        [null, ...Object.values(allUnits)].map((unit): ProductKey => {
          const weights = Array.from({ length: matrices }, () => ({ format, vectors: true }));
          // Rounded factors need the same of the rest.
          const rounded = unit?.element === 'f16' && epilogue === 'store';
          return { ...PLAIN, unit, rounded, epilogue, weights };
        }),
      ),
    );
    const programs = keys.map(productProgram);
    const found = await compile(programs);
    keys.forEach(({ unit, rounded, weights: [weight], ...finish }, i) => {
      const reading = { unit: unit ?? NVIDIA, rounded, format: weight?.format as UnitsFormat };
      const most = unit === null ? 0 : unitsMemory(reading) + 4 * finishNumbers(finish);
      const { messages, memory, fault } = found[i] as Compiled;
      expect([...messages, fault]).toEqual([null]);
      expect(memory ?? 0).toBeLessThanOrEqual(most);
      expect(programs[i]?.writes.length).toBeLessThanOrEqual(8);
    });
  });
});

/** Fewer than a tile holds. */
const ROWS = 13;
const PLAIN = { rows: MOST_ROWS, rank: 8, bias: true, sliced: true, normed: true, next: true };

const gpu = await openGpuForTest();
afterAll(async () => void (gpu !== null && (await closeWebGpuBackend(gpu))));

const own = gpu?.gpu.matrixUnit ?? NVIDIA;

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
    ['store', 3, 'stored', 'NVIDIA', own],
    ['residual', 1, 'nf4', 'NVIDIA', own],
    ['residual', 1, 'int8', 'NVIDIA', own],
    ['swiglu', 2, 'nf4', 'NVIDIA', own],
    ['swiglu', 2, 'nf4', 'Apple', APPLE],
    ['residual', 1, 'int8', 'subgroups of 64', WIDE],
    ['store', 3, 'stored', 'Intel', INTEL],
  ] as const)('leave what those without do: %s of %i, %s, %s', (epilogue, matrices, precision, _, unit) => {
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
    const before = byUnits(backend);
    const results = [unit, null].map((used) => {
      device.matrixUnit = used;
      const matrices_ = weights.map((weight) => matrixOf(backend, weight, true));
      const divided = { weights: matrices_, rank: RANK, swiglu: epilogue === 'swiglu' };
      const words = sumWords(backend, divided, MOST_ROWS);
      expect(words).toBeGreaterThan(0);
      const sums = device.take(4 * words);
      device.clear(sums, 0, words);
      const size = 2 * wide + 16 * MOST_ROWS * (RANK + 4);
      const out = filled(size + 4, 5);
      const call: DecodeProduct = {
        x: { buffer: x, at: 0, parts: TILES, squares: low, low: low + 4 * TILES, lines: (matrices * RANK) / 4 },
        ...{ room: MOST_ROWS, weights: matrices_, extra, epilogue, sums },
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
      const run = openProduct(backend, call);
      run(ROWS, out);
      run(ROWS, out);
      const numbers = new Float32Array(device.read(out, 4 * size));
      expect(new Uint32Array(device.read(sums, 4 * words)).every((word) => word === 0)).toBe(true);
      return numbers;
    });
    expect(byUnits(backend)).toBe(before + 2);
    const [units = new Float32Array(), plain = new Float32Array()] = results;
    const largest = Math.max(...plain.map(Math.abs));
    const worst = Math.max(...plain.map((value, i) => Math.abs(value - (units[i] ?? Number.NaN))));
    expect(worst / largest).toBeLessThan(1e-5);
  });

  it('are left out where an adapter of a high rank leaves no memory for their panels', () => {
    const backend = opened(gpu);
    const { gpu: device } = backend;
    const { limits } = device.adapter;
    const { maxComputeWorkgroupStorageSize: memory } = limits;
    Object.assign(limits, { maxComputeWorkgroupStorageSize: 32 * 1024 });
    device.matrixUnit = APPLE;
    const buffer = device.take(16);
    const matrix: Matrix = { buffer, format: 'nf4', lines: LINES, length: K, transposed: true };
    const programs = [64, 128].map((rank) => {
      let name = '';
      vi.mocked(device.run).mockImplementationOnce((code) => {
        name = code.name;
      });
      const run = openProduct(backend, {
        x: { buffer, at: 0, parts: 1, squares: 0, low: 0, lines: 1 },
        ...{ room: MOST_ROWS, weights: [matrix, matrix], extra: buffer, sums: buffer },
        ...{ eps: 10, bias: null, epilogue: 'swiglu', place: { at: 0, width: LINES / 4 }, norm: null, next: null },
        low: { b: 0, rank, scale: 1 },
      });
      run(ROWS, buffer);
      return name;
    });
    device.give(buffer);
    Object.assign(limits, { maxComputeWorkgroupStorageSize: memory });
    expect(programs.map((name) => name.includes('by units'))).toEqual([true, false]);
  });

  if (gpu !== null) emulateUnits(gpu, own);
});
