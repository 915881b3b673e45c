import { afterEach, describe, expect, it } from 'vitest';
import { closeWasmBackend } from '../../../main/tensor/wasm/boot.ts';
import { type GemmOptions, gemm } from '../../../main/tensor/wasm/gemm.ts';
import type { WasmRuntime } from '../../../main/tensor/wasm/runtime.ts';
import { noise, openForTest } from './open.ts';

type Layout = 'NN' | 'NT' | 'TN' | 'TT';
const layouts: readonly Layout[] = ['NN', 'NT', 'TN', 'TT'];

let runtime: WasmRuntime;
afterEach(() => closeWasmBackend(runtime));

interface Case {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly layout: Layout;
  readonly more?: Partial<GemmOptions>;
}

function strides({ m, n, k, layout }: Case) {
  return {
    ...(layout[0] === 'T' ? { aRow: 1, aCol: m } : { aRow: k, aCol: 1 }),
    ...(layout[1] === 'T' ? { bRow: 1, bCol: k } : { bRow: n, bCol: 1 }),
  };
}

/** The product by our kernels; C starts out as `before`. */
function product(test: Case, before = 0, on = runtime): Float32Array {
  const { m, n, k, more } = test;
  const batch = more?.batch ?? 1;
  const { heap } = runtime;
  const [a, b, c] = [batch * m * k, batch * k * n, batch * m * n].map((size) => heap.malloc(4 * size));
  if (a === undefined || b === undefined || c === undefined) throw new Error('unreachable');
  heap.f32(a, batch * m * k).set(noise(batch * m * k, 1));
  heap.f32(b, batch * k * n).set(noise(batch * k * n, 2));
  heap.f32(c, batch * m * n).fill(before);
  gemm(on, { m, n, k, a, b, c, cRow: n, ...strides(test), ...more });
  const result = heap.f32(c, batch * m * n).slice();
  for (const address of [a, b, c]) heap.free(address);
  return result;
}

/** The product by a B of bfloat16 numbers and by the same numbers in float32. */
function halfAndFull(test: Case, on: WasmRuntime): readonly [Float32Array, Float32Array] {
  const { m, n, k, more } = test;
  const batch = more?.batch ?? 1;
  const { heap } = runtime;
  const size = batch * k * n;
  const bits = new Uint32Array(noise(size, 2).buffer);
  const [a, b, half, c] = [4 * batch * m * k, 4 * size, 2 * size, 4 * batch * m * n].map((bytes) => heap.malloc(bytes));
  if (a === undefined || b === undefined || half === undefined || c === undefined) throw new Error('unreachable');
  heap.f32(a, batch * m * k).set(noise(batch * m * k, 1));
  heap.u16(half, size).set(bits.map((word) => word >>> 16));
  heap.f32(b, size).set(new Float32Array(bits.map((word) => (word >>> 16) << 16).buffer));
  const run = (options: Partial<GemmOptions>): Float32Array => {
    heap.f32(c, batch * m * n).fill(2);
    gemm(on, { m, n, k, a, b, c, cRow: n, ...strides(test), ...more, ...options });
    return heap.f32(c, batch * m * n).slice();
  };
  const results = [run({ b: half, bIsHalf: true }), run({})] as const;
  for (const address of [a, b, half, c]) heap.free(address);
  return results;
}

/** The same by the definition, in double precision. */
function naive(test: Case, before = 0): Float32Array {
  const { m, n, k, more } = test;
  const batch = more?.batch ?? 1;
  const { aRow, aCol, bRow, bCol } = strides(test);
  const { aBatch = m * k, bBatch = k * n } = more ?? {};
  const a = noise(batch * m * k, 1);
  const b = noise(batch * k * n, 2);
  const result = new Float32Array(batch * m * n);
  for (let item = 0; item < batch; item++) {
    for (let i = 0; i < m; i++) {
      for (let j = 0; j < n; j++) {
        let sum = 0;
        let [left, right] = [item * aBatch + i * aRow, item * bBatch + j * bCol];
        for (let l = 0; l < k; l++, left += aCol, right += bRow) sum += (a[left] as number) * (b[right] as number);
        result[item * m * n + i * n + j] = (more?.alpha ?? 1) * sum + (more?.accumulate ? before : 0);
      }
    }
  }
  return result;
}

function largestError(result: Float32Array, expected: Float32Array): number {
  return expected.reduce((worst, value, i) => Math.max(worst, Math.abs(value - (result[i] ?? Number.NaN))), 0);
}

const shapes = [
  [1, 1, 1],
  [1, 37, 19],
  [2, 6, 5],
  [3, 4, 8],
  [5, 9, 33],
  [8, 30, 64],
  [16, 50, 100],
  [17, 16, 3],
  [33, 35, 37],
  [97, 130, 70],
  [50, 60, 700],
  [7, 9, 5000],
  [200, 16, 40],
] as const;

describe('gemm', () => {
  for (const layout of layouts) {
    it(`multiplies odd shapes in layout ${layout}`, async () => {
      runtime = await openForTest(2);
      for (const [m, n, k] of shapes) {
        const test = { m, n, k, layout };
        const error = largestError(product(test), naive(test));
        expect(error, `${m} ${n} ${k}`).toBeLessThan(2e-6 * k + 1e-6);
      }
    });

    it(`scales and accumulates in layout ${layout}`, async () => {
      runtime = await openForTest(2);
      for (const [m, n, k] of shapes) {
        const test = { m, n, k, layout, more: { alpha: 0.5, accumulate: true } };
        const error = largestError(product(test, 3), naive(test, 3));
        expect(error, `${m} ${n} ${k}`).toBeLessThan(2e-6 * k + 1e-6);
      }
    });

    it(`multiplies batches, and shares an operand of batch stride 0, in layout ${layout}`, async () => {
      runtime = await openForTest(2);
      for (const [m, n, k] of shapes) {
        for (const more of [{ batch: 3 }, { batch: 3, aBatch: 0 }, { batch: 3, bBatch: 0 }]) {
          const test = { m, n, k, layout, more };
          const error = largestError(product(test), naive(test));
          expect(error, `${m} ${n} ${k} ${JSON.stringify(more)}`).toBeLessThan(2e-6 * k + 1e-6);
        }
      }
    });
  }

  it('cuts operands that are too large to pack at once', { timeout: 240_000 }, async () => {
    runtime = await openForTest(2);
    for (const layout of layouts) {
      for (const [m, n, k] of [
        [20, 2100, 2100],
        [1100, 18, 4200],
      ] as const) {
        const test = { m, n, k, layout };
        const result = product(test);
        const [a, b] = [noise(m * k, 1), noise(k * n, 2)];
        // All of C would take the naive loops minutes; these cells lie on both sides of every cut.
        for (const cell of [0, n - 1, m * n - 1, (m - 1) * n, Math.floor(m / 2) * n + Math.floor(n / 2)]) {
          expect(result[cell], `${layout} ${m} ${n} ${k} ${cell}`).toBeCloseTo(naiveCell(test, a, b, cell), 2);
        }
      }
    }
  });

  it('multiplies few rows with wide vectors', async () => {
    runtime = { ...(await openForTest(2)), wide: true };
    for (const [m, n, k] of shapes) {
      const test = { m, n, k, layout: 'NT', more: { alpha: 0.5, accumulate: true } } as const;
      expect(largestError(product(test, 3), naive(test, 3)), `${m} ${n} ${k}`).toBeLessThan(2e-6 * k + 1e-6);
    }
  });

  it('clears C for an empty sum', async () => {
    runtime = await openForTest(1);
    expect(product({ m: 2, n: 3, k: 0, layout: 'NN' }, 7)).toEqual(new Float32Array(6));
  });

  it('gives the same bits on 1, 2 and 3 threads', async () => {
    const results: Float32Array[] = [];
    for (const threads of [1, 2, 3]) {
      runtime = await openForTest(threads);
      for (const layout of layouts) results.push(product({ m: 150, n: 210, k: 700, layout }));
      results.push(product({ m: 8, n: 500, k: 301, layout: 'NT' }));
      if (threads < 3) await closeWasmBackend(runtime);
    }
    for (let i = 0; i < 5; i++) {
      expect(results[5 + i]).toEqual(results[i]);
      expect(results[10 + i]).toEqual(results[i]);
    }
  });

  it('gives the same bits on wide panels', async () => {
    runtime = await openForTest(2);
    for (const layout of layouts) {
      for (const [m, n, k] of shapes) {
        const test = { m, n, k, layout, more: { alpha: 0.3, accumulate: true } };
        const narrow = product(test, 1, { ...runtime, wide: false });
        expect(product(test, 1, { ...runtime, wide: true }), `${m} ${n} ${k}`).toEqual(narrow);
      }
    }
  });

  it('gives the same bits for a row among few as among many', async () => {
    runtime = await openForTest(2);
    const [n, k] = [70, 300];
    const many = product({ m: 60, n, k, layout: 'NT' });
    for (const m of [6, 8, 13, 16, 33]) {
      const few = product({ m, n, k, layout: 'NT' });
      expect(few, `${m} rows`).toEqual(many.slice(0, m * n));
    }
  });

  it('gives the same bits for a row among hundreds, whose tiles pack for themselves, as among more', async () => {
    runtime = await openForTest(2);
    const [n, k] = [130, 300];
    for (const wide of [false, true]) {
      for (const layout of ['NN', 'NT'] as const) {
        const many = product({ m: 520, n, k, layout }, 0, { ...runtime, wide });
        const some = product({ m: 101, n, k, layout }, 0, { ...runtime, wide });
        expect(some, `${layout}, wide: ${wide}`).toEqual(many.slice(0, 101 * n));
      }
    }
  });

  it.each(layouts)('gives the bits of float32 where B is bfloat16, in layout %s', async (layout) => {
    runtime = await openForTest(2);
    const more = [{}, { alpha: 0.5, accumulate: true }, { batch: 3 }, { batch: 3, bBatch: 0 }];
    // The last ones take the other kernels: tiles that pack for themselves, and K and N longer than a part.
    for (const [m, n, k] of [...shapes, [101, 130, 300], [60, 70, 300], [20, 40, 5000], [9, 2100, 2100]] as const) {
      // The largest, once each: most of its time is filling B.
      for (const options of n * k > 1e6 ? more.slice(0, 2) : more) {
        for (const wide of [false, true]) {
          const test = { m, n, k, layout, more: options };
          const [half, full] = halfAndFull(test, { ...runtime, wide });
          expect(half, `${m} ${n} ${k} ${JSON.stringify(options)} ${wide}`).toEqual(full);
        }
      }
    }
  });

  it('frees its scratch', async () => {
    runtime = await openForTest(2);
    const before = runtime.heap.bytesInUse();
    product({ m: 97, n: 130, k: 70, layout: 'NT' });
    expect(runtime.heap.bytesInUse()).toBe(before);
  });
});

function naiveCell(test: Case, a: Float32Array, b: Float32Array, cell: number): number {
  const { n, k } = test;
  const { aRow, aCol, bRow, bCol } = strides(test);
  const [i, j] = [Math.floor(cell / n), cell % n];
  let sum = 0;
  for (let l = 0; l < k; l++) sum += (a[i * aRow + l * aCol] ?? Number.NaN) * (b[l * bRow + j * bCol] ?? Number.NaN);
  return sum;
}
