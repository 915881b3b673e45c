import * as tf from '@tensorflow/tfjs-core';
import { afterAll, describe, expect, it } from 'vitest';
import { gatherRows } from '../../../main/tensor/ops/rows.ts';
import { dequantise, quantise } from '../../../main/tensor/quantised.ts';
import { matrixOf } from '../../../main/tensor/webgpu/kernels/matrix.ts';
import { rowsProducts } from '../../../main/tensor/webgpu/kernels/product-rows.ts';
import { slicesOf } from '../../../main/tensor/webgpu/kernels/product-slices.ts';
import { tileFor } from '../../../main/tensor/webgpu/kernels/product-tile.ts';
import { closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import { makeWeight } from '../../../main/tensor/weights.ts';
import { randomTensor } from '../ops/finite-differences.ts';
import { opened, openGpuForTest } from './open.ts';
import { sixteenBits, toBfloat } from './sixteen-bits.ts';

const gpu = await openGpuForTest();

const matrix = (rows: number, columns: number, seed: number): tf.Tensor2D =>
  randomTensor<tf.Rank.R2>([rows, columns], seed);

/** op(a)·op(b) in double precision. */
function expected(a: tf.Tensor2D, b: tf.Tensor2D, transposeA: boolean, transposeB: boolean): Float64Array {
  const [x, y] = [a.dataSync(), b.dataSync()];
  const [m, k] = transposeA ? [a.shape[1], a.shape[0]] : a.shape;
  const n = transposeB ? b.shape[0] : b.shape[1];
  const out = new Float64Array(m * n);
  for (let i = 0; i < m; i++)
    for (let j = 0; j < n; j++)
      for (let l = 0; l < k; l++)
        out[i * n + j] =
          (out[i * n + j] ?? 0) +
          (x[transposeA ? l * m + i : i * k + l] ?? 0) * (y[transposeB ? j * k + l : l * n + j] ?? 0);
  return out;
}

const difference = (found: tf.Tensor, wanted: ArrayLike<number>): number =>
  found
    .dataSync<'float32'>()
    .reduce((worst, value, i) => Math.max(worst, Math.abs(value - (wanted[i] ?? Number.NaN))), 0);

describe.runIf(gpu !== null)('products on webgpu', () => {
  afterAll(() => closeWebGpuBackend(opened(gpu)));

  // A size for each tile: few rows, small, middle and large; with lines that are whole vectors and not.
  it.each([
    [1, 40, 50],
    [5, 33, 17],
    [20, 64, 36],
    [70, 70, 90],
    [70, 40, 30],
    [130, 72, 260],
    // K in slices, the last one shorter.
    [3, 1030, 132],
    [16, 1028, 70],
    [70, 900, 13],
    [40, 1284, 40],
  ])('are right in all transpositions of %i x %i x %i', (m, k, n) => {
    for (const [transposeA, transposeB] of [
      [false, false],
      [false, true],
      [true, false],
      [true, true],
    ] as const) {
      const a = transposeA ? matrix(k, m, 1) : matrix(m, k, 1);
      const b = transposeB ? matrix(n, k, 2) : matrix(k, n, 2);
      const found = tf.matMul(a, b, transposeA, transposeB);
      expect(difference(found, expected(a, b, transposeA, transposeB)), `${transposeA} ${transposeB}`).toBeLessThan(
        1e-4,
      );
      tf.dispose([a, b, found]);
    }
  });

  it('are right by tiles of 128', () => {
    // Lines of one panel and a half.
    const [a, b] = [matrix(1024, 24, 1), matrix(1024, 24, 2)];
    const found = tf.matMul(a, b, false, true);
    expect(difference(found, expected(a, b, false, true))).toBeLessThan(1e-4);
    const [c, d] = [matrix(24, 1024, 1), matrix(24, 1024, 2)];
    const across = tf.matMul(c, d, true, false);
    expect(difference(across, expected(c, d, true, false))).toBeLessThan(1e-4);
    tf.dispose([a, b, c, d, found, across]);
  });

  it('serve every matrix of a batch, also with one of the other side', () => {
    const a = randomTensor<tf.Rank.R3>([3, 5, 8], 1);
    for (const batch of [3, 1]) {
      const b = randomTensor<tf.Rank.R3>([batch, 6, 8], 2);
      const found = tf.unstack(tf.matMul(a, b, false, true));
      found.forEach((each, i) => {
        const [left, right] = [tf.unstack(a)[i], tf.unstack(b)[batch === 1 ? 0 : i]] as [tf.Tensor2D, tf.Tensor2D];
        expect(difference(each, expected(left, right, false, true))).toBeLessThan(1e-5);
      });
    }
  });

  it('take sixteen rows at a time', () => {
    const backend = opened(gpu);
    const [x, w] = [matrix(19, 40, 1), matrix(24, 40, 2)];
    const out = tf.zeros<tf.Rank.R2>([19, 24]);
    const call = { x: backend.buffer(x), rows: 19, weights: [matrixOf(backend, w, true)], rowsAtATime: 16 };
    rowsProducts(backend, { ...call, out: backend.bufferToChange(out) });
    expect(difference(out, expected(x, w, false, true))).toBeLessThan(1e-5);
  });

  it.each([
    [8192, 16, '64 x 16'],
    [8192, 32, '64 x 32'],
    [8192, 64, '64 x 64'],
    [16, 8192, '16 x 64'],
    [32, 8192, '32 x 64'],
    [64, 8192, '64 x 64'],
    [8192, 128, '128 x 128'],
  ])('have no tile that is mostly padding: %i x %i', (m, n, tile) => {
    expect(tileFor(m, n, 1)).toBe(tile);
  });

  it('cut K into slices by the shapes alone', () => {
    // Enough tiles, or so short a K that there is nothing to win.
    expect(slicesOf('128 x 128', 4096, 4096, 4096)).toEqual({ count: 1, length: 4096 });
    expect(slicesOf('16 x 64', 16, 64, 700)).toEqual({ count: 1, length: 700 });
    expect(slicesOf('16 x 64', 16, 3072, 3072)).toEqual({ count: 20, length: 160 });
    // The gradient of a head's input: work for several dispatches, each for a whole GPU.
    const { count, length } = slicesOf('128 x 128', 256, 3072, 128_256);
    expect(length % 32).toBe(0);
    expect((count - 1) * length).toBeLessThan(128_256);
    expect(count * length).toBeGreaterThanOrEqual(128_256);
    expect(4 * count * 256 * 3072).toBeLessThanOrEqual(2 ** 27);
    expect(slicesOf('16 x 64', 1, 4, 0)).toEqual({ count: 1, length: 1 });
  });

  it.each([
    ['store', [64, 32, 36]],
    ['add', [100]],
    ['swiglu', [52, 52]],
  ] as const)('do with few rows, K in slices, what is to follow: %s', (epilogue, widths) => {
    const backend = opened(gpu);
    const [rows, k, r, scale] = [5, 1024, 4, 0.5];
    const n = widths.reduce<number>((sum, width) => sum + width, 0);
    const x = matrix(rows, k, 1);
    const w = widths.map((width, i) => matrix(width, k, 2 + i));
    const low = widths.map((_, i) => matrix(rows, r, 7 + i));
    const b = matrix(n, r, 11);
    const bias = epilogue === 'store' ? matrix(1, n, 12) : null;
    const before = matrix(rows, epilogue === 'swiglu' ? n / 2 : n, 13);
    const out = tf.clone(before);
    const written = tf.add(before, 0) as tf.Tensor2D;
    rowsProducts(backend, {
      x: backend.buffer(x),
      rows,
      weights: w.map((weight) => matrixOf(backend, weight, true)),
      epilogue,
      second: {
        a: matrixOf(backend, tf.reshape(tf.stack(low, 1), [rows * w.length, r])),
        b: matrixOf(backend, b, true),
        scale,
      },
      ...(bias && { bias: backend.buffer(bias) }),
      out: backend.bufferToChange(written),
    });
    const sums = tf.tidy(() => {
      const starts = widths.map((_, i) => widths.slice(0, i).reduce<number>((sum, width) => sum + width, 0));
      const parts = w.map((weight, i) => {
        const product = tf.tensor2d(Float32Array.from(expected(x, weight, false, true)), [rows, widths[i] ?? 0]);
        const lines = tf.slice(b, [starts[i] ?? 0, 0], [widths[i] ?? 0, r]);
        const lowRank = tf.tensor2d(Float32Array.from(expected(low[i] as tf.Tensor2D, lines, false, true)), [
          rows,
          widths[i] ?? 0,
        ]);
        return tf.add(product, tf.mul(scale, lowRank)) as tf.Tensor2D;
      });
      if (epilogue === 'swiglu')
        return tf.mul(tf.mul(parts[0] as tf.Tensor2D, tf.sigmoid(parts[0] as tf.Tensor2D)), parts[1] as tf.Tensor2D);
      const all = tf.concat(parts, 1);
      return tf.add(all, epilogue === 'add' ? out : (bias as tf.Tensor2D));
    });
    // Up to a thousand of numbers in ±1 added up, in another order; SwiGLU multiplies two of them.
    expect(difference(written, sums.dataSync<'float32'>())).toBeLessThan(epilogue === 'swiglu' ? 1e-3 : 1e-4);
  });

  it.each(['BF16', 'F32'] as const)(
    'keep frozen weights of %s in bfloat16, with the products of those numbers',
    (type) => {
      const values = toBfloat(matrix(24, 16, 3).dataSync<'float32'>());
      const weight = makeWeight(sixteenBits(values, type), [24, 16], 'bfloat16') as tf.Tensor2D;
      expect(opened(gpu).format(weight)).toBe('bf16');
      const same = tf.tensor2d(values, [24, 16]);
      for (const rows of [3, 40]) {
        const x = matrix(rows, 16, 4);
        expect(difference(tf.matMul(x, weight, false, true), expected(x, same, false, true))).toBeLessThan(1e-5);
        const dy = matrix(rows, 24, 5);
        expect(difference(tf.matMul(dy, weight), expected(dy, same, false, false))).toBeLessThan(1e-5);
      }
    },
  );

  // 24 lines of 40 are 15 blocks; 7 of 36 end in the middle of one.
  it.each(
    (['int8', 'nf4'] as const).flatMap((kind) =>
      [[24, 40] as const, [7, 36] as const].map(([n, k]) => ({ kind, n, k })),
    ),
  )('keep frozen weights of $n x $k in $kind, with the products of the unpacked numbers', ({ kind, n, k }) => {
    const values = Float32Array.from(matrix(n, k, 3).dataSync<'float32'>());
    const weight = makeWeight(sixteenBits(values, 'F32'), [n, k], kind) as tf.Tensor2D;
    expect(opened(gpu).format(weight)).toBe(kind);
    const same = tf.tensor2d(dequantise(quantise(values, kind), kind, n * k), [n, k]);
    for (const rows of [3, 40]) {
      const x = matrix(rows, k, 4);
      expect(difference(tf.matMul(x, weight, false, true), expected(x, same, false, true))).toBeLessThan(1e-5);
      const dy = matrix(rows, n, 5);
      expect(difference(tf.matMul(dy, weight), expected(dy, same, false, false))).toBeLessThan(1e-5);
    }
    const rows = tf.tensor1d([2, 0, n - 1], 'int32');
    expect(difference(gatherRows(weight, rows), gatherRows(same, rows).dataSync())).toBeLessThan(1e-6);
  });

  it('take the blocks that a file has as they are', () => {
    const values = Float32Array.from(matrix(24, 40, 3).dataSync<'float32'>());
    const read = (first: number, count: number) => quantise(values.slice(first, first + count), 'nf4');
    const other = sixteenBits(new Float32Array(24 * 40), 'F32');
    const weight = makeWeight({ ...other, packed: { kind: 'nf4', read } }, [24, 40], 'nf4') as tf.Tensor2D;
    const same = tf.tensor2d(dequantise(quantise(values, 'nf4'), 'nf4', 24 * 40), [24, 40]);
    const rows = tf.tensor1d([2, 0, 23], 'int32');
    expect(difference(gatherRows(weight, rows), gatherRows(same, rows).dataSync())).toBeLessThan(1e-6);
  });

  it('unpack a matrix whose lines are no multiple of four', () => {
    const values = Float32Array.from(matrix(5, 7, 3).dataSync<'float32'>());
    const weight = makeWeight(sixteenBits(values, 'F32'), [5, 7], 'nf4');
    expect(opened(gpu).format(weight)).toBe('f32');
    expect(weight.dataSync()).toEqual(dequantise(quantise(values, 'nf4'), 'nf4', 35));
  });

  it('keep the 16 bits of a file where its numbers are to stay, and no float32 ones', () => {
    const values = toBfloat(matrix(8, 8, 3).dataSync<'float32'>());
    const kept = (type: 'BF16' | 'F32'): string =>
      opened(gpu).format(makeWeight(sixteenBits(values, type), [8, 8], 'stored'));
    expect([kept('BF16'), kept('F32')]).toEqual(['bf16', 'f32']);
  });

  it('are the only ones that read 16 bits: other ops say so', () => {
    const values = toBfloat(matrix(8, 8, 3).dataSync<'float32'>());
    const weight = makeWeight(sixteenBits(values, 'BF16'), [8, 8], 'bfloat16');
    expect(() => tf.add(weight, 1)).toThrow('Expected 32-bit numbers, got bf16');
  });
});

describe.runIf(gpu !== null)('a GPU with a budget', () => {
  it('refuses what goes beyond it, and keeps working', async () => {
    const small = opened(await openGpuForTest({ budgetBytes: 2 ** 20 }));
    const large = (): tf.Tensor => tf.tidy(() => tf.fill([2 ** 20], 1));
    expect(large).toThrow(expect.objectContaining({ code: 'OUT_OF_MEMORY' }));
    expect(tf.tidy(() => tf.sum(tf.fill([1000], 2)).dataSync()[0])).toBe(2000);
    expect(small.gpu.counts.bytes).toBeLessThanOrEqual(2 ** 20);
    await closeWebGpuBackend(small);
  });
});
