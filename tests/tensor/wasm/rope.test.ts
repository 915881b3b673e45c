import { describe, expect, it } from 'vitest';
import {
  expectClose,
  expectNoLeak,
  expectSameBits,
  type Floats,
  normals,
  runKernel,
  seeded,
  withThreads,
} from './fused-harness.ts';

/** Tables of P positions and a batch of N tokens at random ones. */
function makeCase(tokens: number, heads: number, d: number, limit = 50) {
  const stream = seeded(tokens + heads * 100 + d * 1000);
  const angles = Array.from({ length: (limit * d) / 2 }, (_, i) => {
    return Math.floor(i / (d / 2)) * 10000 ** ((-2 * (i % (d / 2))) / d);
  });
  return {
    x: { values: normals(tokens * heads * d, stream), shape: [tokens, heads * d] },
    positions: { values: Int32Array.from({ length: tokens }, () => stream.below(limit)), shape: [tokens] },
    cos: { values: Float32Array.from(angles, Math.cos), shape: [limit, d / 2] },
    sin: { values: Float32Array.from(angles, Math.sin), shape: [limit, d / 2] },
  };
}

/** Hugging Face's form: x cos + rotate_half(x) sin, rotate_half(x) = [−x2, x1]. */
function reference({ x, positions, cos, sin }: ReturnType<typeof makeCase>, d: number): Float64Array {
  const half = d / 2;
  const width = x.shape[1] ?? 0;
  return Float64Array.from(x.values, (value, i) => {
    const angle = (positions.values[Math.floor(i / width)] ?? 0) * half + (i % half);
    const rotated = i % d < half ? -(x.values[i + half] ?? 0) : (x.values[i - half] ?? 0);
    return value * (cos.values[angle] ?? 0) + rotated * (sin.values[angle] ?? 0);
  });
}

describe('Rope', () => {
  it('rotates halves, not neighbours', () =>
    withThreads(1, () => {
      const inputs = {
        x: { values: Float32Array.of(1, 2, 3, 4), shape: [1, 4] },
        positions: { values: Int32Array.of(1), shape: [1] },
        cos: { values: Float32Array.of(9, 9, 0, 1), shape: [2, 2] },
        sin: { values: Float32Array.of(9, 9, 1, 0), shape: [2, 2] },
      };
      // A quarter turn of (1, 3), none of (2, 4).
      expectClose(runKernel('Rope', inputs, { headDim: 4, inverse: false })[0], [-3, 2, 1, 4], 1e-7);
      expectClose(runKernel('Rope', inputs, { headDim: 4, inverse: true })[0], [3, 2, -1, 4], 1e-7);
    }));

  it('matches float64 at odd sizes, and its inverse undoes it', () =>
    withThreads(2, () => {
      for (const [tokens, heads, d] of [
        [1, 1, 2],
        [7, 3, 6],
        [130, 2, 8],
        [65, 5, 80],
        [40, 4, 128],
      ] as const) {
        const test = makeCase(tokens, heads, d);
        const [y] = runKernel('Rope', test, { headDim: d, inverse: false }) as [Floats];
        expectClose(y, reference(test, d), 5e-7);
        const [back] = runKernel('Rope', { ...test, x: { ...test.x, values: y } }, { headDim: d, inverse: true });
        expectClose(back, test.x.values, 1e-6);
      }
    }));

  it('gives the same bits with 1, 2 and 3 threads', () =>
    expectSameBits(() => runKernel('Rope', makeCase(500, 4, 64), { headDim: 64, inverse: false })));

  it('leaves nothing on the heap', () =>
    withThreads(2, (runtime) => {
      const test = makeCase(9, 2, 8);
      expectNoLeak(runtime, () => runKernel('Rope', test, { headDim: 8, inverse: false }));
    }));

  it('rejects positions beyond the tables and head sizes that do not divide the width', () =>
    withThreads(1, () => {
      const test = makeCase(3, 2, 8);
      const positions = { values: Int32Array.of(0, 50, 1), shape: [3] };
      const attrs = { headDim: 8, inverse: false };
      expect(() => runKernel('Rope', { ...test, positions }, attrs)).toThrow('0..49, got 50');
      expect(() => runKernel('Rope', test, { ...attrs, headDim: 6 })).toThrow('to be even and to divide 16, got 6');
    }));
});
