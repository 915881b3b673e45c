import { describe, expect, it } from 'vitest';
import { expectClose, expectNoLeak, expectSameBits, normals, runKernel, seeded, withThreads } from './fused-harness.ts';

function operands(rows: number, width: number) {
  const stream = seeded(rows + width);
  const matrix = (scale: number) => ({ values: normals(rows * width, stream, scale), shape: [rows, width] });
  return { gate: matrix(4), up: matrix(1), dy: matrix(1) };
}

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

describe('SwiGlu', () => {
  it('and its gradient match float64 at odd sizes', () =>
    withThreads(2, () => {
      for (const [rows, width] of [
        [1, 1],
        [3, 3],
        [5, 11],
        [100, 99],
        [64, 512],
      ] as const) {
        const { gate, up, dy } = operands(rows, width);
        const each = (of: (g: number, u: number, s: number) => number) =>
          Float64Array.from(gate.values, (g, i) => of(g, up.values[i] ?? 0, dy.values[i] ?? 0));
        const [y] = runKernel('SwiGlu', { gate, up });
        expectClose(
          y,
          each((g, u) => g * sigmoid(g) * u),
          3e-7,
        );
        const [dgate, dup] = runKernel('SwiGluGrad', { dy, gate, up });
        expectClose(
          dgate,
          each((g, u, s) => s * u * sigmoid(g) * (1 + g * (1 - sigmoid(g)))),
          5e-7,
        );
        expectClose(
          dup,
          each((g, _u, s) => s * g * sigmoid(g)),
          5e-7,
        );
      }
    }));

  it('has a relative error of a few roundings over the whole range of its exponential', () =>
    withThreads(1, () => {
      // silu(-x) = -x e^-x / (1 + e^-x): for large x this is -x times the kernel's own exp.
      const gate = Float32Array.from({ length: 20000 }, (_, i) => -87 + i * 0.00855);
      const ones = { values: new Float32Array(20000).fill(1), shape: [1, 20000] };
      const [y] = runKernel('SwiGlu', { gate: { values: gate, shape: [1, 20000] }, up: ones });
      const errors = gate.map((g, i) => Math.abs((y?.[i] ?? 0) / (g * sigmoid(g)) - 1)).filter((_, i) => gate[i] !== 0);
      expect(Math.max(...errors)).toBeLessThan(4e-7);
    }));

  it('stays finite at the ends of the range and keeps NaN', () =>
    withThreads(1, () => {
      const values = Float32Array.of(-1e30, -200, -88.5, 0, 88.5, 200, 1e30, Number.NaN);
      const ones = { values: new Float32Array(8).fill(1), shape: [1, 8] };
      const [y] = runKernel('SwiGlu', { gate: { values, shape: [1, 8] }, up: ones });
      expect(Array.from(y ?? []).map(Math.abs)).toEqual([0, 0, 0, 0, 88.5, 200, Math.fround(1e30), Number.NaN]);
    }));

  it('gives the same bits with 1, 2 and 3 threads', () =>
    expectSameBits(() => {
      const { gate, up, dy } = operands(200, 201);
      return [...runKernel('SwiGlu', { gate, up }), ...runKernel('SwiGluGrad', { dy, gate, up })];
    }));

  it('leaves nothing on the heap', () =>
    withThreads(2, (runtime) => {
      const { gate, up, dy } = operands(5, 6);
      expectNoLeak(runtime, () => {
        runKernel('SwiGlu', { gate, up });
        runKernel('SwiGluGrad', { dy, gate, up });
      });
    }));

  it('rejects operands of different shapes', () =>
    withThreads(1, () => {
      const { gate } = operands(2, 3);
      expect(() => runKernel('SwiGlu', { gate, up: operands(3, 2).up })).toThrow('to be [2, 3], got [3, 2]');
    }));
});
