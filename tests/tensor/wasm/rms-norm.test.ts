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

const sizes: readonly (readonly [rows: number, width: number])[] = [
  [1, 1],
  [3, 7],
  [17, 30],
  [130, 64],
  [1100, 80],
  [70, 577],
];

function operands(rows: number, width: number) {
  const stream = seeded(rows * 1000 + width);
  return {
    x: { values: normals(rows * width, stream, 2), shape: [rows, width] },
    weight: { values: normals(width, stream), shape: [width] },
    dy: { values: normals(rows * width, stream), shape: [rows, width] },
  };
}

/** y, dx and dweight in float64. */
function reference(x: Floats, weight: Floats, dy: Floats, eps: number) {
  const width = weight.length;
  const y = new Float64Array(x.length);
  const dx = new Float64Array(x.length);
  const dweight = new Float64Array(width);
  for (let at = 0; at < x.length; at += width) {
    const row = Array.from(x.subarray(at, at + width));
    const r = 1 / Math.sqrt(row.reduce((sum, value) => sum + value * value, 0) / width + eps);
    const shared = row.reduce((sum, value, j) => sum + (dy[at + j] ?? 0) * (weight[j] ?? 0) * value, 0);
    row.forEach((value, j) => {
      const slope = dy[at + j] ?? 0;
      y[at + j] = value * r * (weight[j] ?? 0);
      dx[at + j] = r * slope * (weight[j] ?? 0) - (value * r ** 3 * shared) / width;
      dweight[j] = (dweight[j] ?? 0) + slope * value * r;
    });
  }
  return { y, dx, dweight };
}

describe('RmsNorm', () => {
  it('gives hand-computed values', () =>
    withThreads(1, () => {
      const inputs = {
        x: { values: Float32Array.of(3, 4, 0, 0), shape: [2, 2] },
        weight: { values: Float32Array.of(2, -1), shape: [2] },
      };
      // Mean squares 12.5 and 0; with eps 12.5 the factors are 1/5 and 1/√12.5.
      const [y] = runKernel('RmsNorm', inputs, { eps: 12.5 });
      expectClose(y, [1.2, -0.8, 0, 0], 1e-6);
    }));

  it('and its gradients match float64 at odd sizes', () =>
    withThreads(2, () => {
      for (const [rows, width] of sizes) {
        const { x, weight, dy } = operands(rows, width);
        const expected = reference(x.values, weight.values, dy.values, 1e-5);
        expectClose(runKernel('RmsNorm', { x, weight }, { eps: 1e-5 })[0], expected.y, 1e-6);
        expectClose(runKernel('RmsNormGradX', { dy, x, weight }, { eps: 1e-5 })[0], expected.dx, 2e-6);
        expectClose(runKernel('RmsNormGradWeight', { dy, x }, { eps: 1e-5 })[0], expected.dweight, 2e-6);
      }
    }));

  it('gives the same bits with 1, 2 and 3 threads', () =>
    expectSameBits(() => {
      const { x, weight, dy } = operands(900, 70);
      const attrs = { eps: 1e-6 };
      return [
        ...runKernel('RmsNorm', { x, weight }, attrs),
        ...runKernel('RmsNormGradX', { dy, x, weight }, attrs),
        ...runKernel('RmsNormGradWeight', { dy, x }, attrs),
      ];
    }));

  it('leaves nothing on the heap', () =>
    withThreads(2, (runtime) => {
      const { x, weight, dy } = operands(20, 9);
      expectNoLeak(runtime, () => {
        runKernel('RmsNorm', { x, weight }, { eps: 1e-6 });
        runKernel('RmsNormGradX', { dy, x, weight }, { eps: 1e-6 });
        runKernel('RmsNormGradWeight', { dy, x }, { eps: 1e-6 });
      });
    }));

  it('rejects a weight of another width', () =>
    withThreads(1, () => {
      const { x } = operands(3, 7);
      const weight = { values: new Float32Array(6), shape: [6] };
      expect(() => runKernel('RmsNorm', { x, weight }, { eps: 1e-6 })).toThrow(`RmsNorm's "weight" to be [7], got [6]`);
    }));
});
