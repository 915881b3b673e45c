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

function makeCase(rows: number, width: number, vocabulary: number, scale = 1) {
  const stream = seeded(rows + width * 1000 + vocabulary);
  return {
    hidden: { values: normals(rows * width, stream, scale), shape: [rows, width] },
    weight: { values: normals(vocabulary * width, stream), shape: [vocabulary, width] },
    targets: { values: Int32Array.from({ length: rows }, () => stream.below(vocabulary)), shape: [rows] },
    dlogp: { values: normals(rows, stream), shape: [rows] },
    dentropy: { values: normals(rows, stream), shape: [rows] },
  };
}

type Case = ReturnType<typeof makeCase>;

/** All outputs and gradients in float64. */
function reference({ hidden, weight, targets, dlogp, dentropy }: Case, temperature: number) {
  const [rows = 0, width = 0] = hidden.shape;
  const vocabulary = weight.shape[0] ?? 0;
  const logp = new Float64Array(rows);
  const entropy = new Float64Array(rows);
  const lse = new Float64Array(rows);
  const dhidden = new Float64Array(rows * width);
  const dweight = new Float64Array(vocabulary * width);
  for (let row = 0; row < rows; row++) {
    const logits = Array.from({ length: vocabulary }, (_, id) => {
      let sum = 0;
      for (let c = 0; c < width; c++)
        sum += (hidden.values[row * width + c] ?? 0) * (weight.values[id * width + c] ?? 0);
      return sum / temperature;
    });
    const largest = logits.reduce((most, x) => Math.max(most, x), -Infinity);
    const total = largest + Math.log(logits.reduce((sum, x) => sum + Math.exp(x - largest), 0));
    const rowEntropy = logits.reduce((sum, x) => sum - Math.exp(x - total) * (x - total), 0);
    logp[row] = (logits[targets.values[row] ?? 0] ?? 0) - total;
    entropy[row] = rowEntropy;
    lse[row] = total;
    logits.forEach((x, id) => {
      const p = Math.exp(x - total);
      const chosen = id === targets.values[row] ? 1 : 0;
      const fromEntropy = (dentropy.values[row] ?? 0) * p * (x - total + rowEntropy);
      const slope = ((dlogp.values[row] ?? 0) * (chosen - p) - fromEntropy) / temperature;
      for (let c = 0; c < width; c++) {
        const [h, w] = [row * width + c, id * width + c];
        dhidden[h] = (dhidden[h] ?? 0) + slope * (weight.values[w] ?? 0);
        dweight[w] = (dweight[w] ?? 0) + slope * (hidden.values[h] ?? 0);
      }
    });
  }
  return { logp, entropy, lse, dhidden, dweight };
}

function forward({ hidden, weight, targets }: Case, temperature: number, keepLogits = false): Floats[] {
  return runKernel('SelectiveLogSoftmax', { hidden, weight, targets }, { temperature, keepLogits });
}

function backward(test: Case, temperature: number, needs: { needHidden: boolean; needWeight: boolean }, kept = false) {
  const [rows = 0] = test.hidden.shape;
  const [, entropy, lse, logits] = forward(test, temperature, kept) as [Floats, Floats, Floats, Floats];
  const saved = { lse: { values: lse, shape: [rows] }, entropy: { values: entropy, shape: [rows] } };
  const shape = [rows, test.weight.shape[0] ?? 0];
  const inputs = { ...test, ...saved, ...(kept && { logits: { values: logits, shape } }) };
  return runKernel('SelectiveLogSoftmaxGrad', inputs, { temperature, ...needs });
}

const sizes = [
  [1, 3, 2],
  [5, 8, 37],
  [130, 16, 515],
  // Several tiles of rows, and several of columns.
  [600, 5, 70],
  [20, 6, 9001],
] as const;

describe('SelectiveLogSoftmax', () => {
  it('matches float64 at odd sizes and several temperatures', () =>
    withThreads(2, () => {
      for (const [rows, width, vocabulary] of sizes) {
        for (const temperature of [1, 0.7]) {
          const test = makeCase(rows, width, vocabulary);
          const expected = reference(test, temperature);
          const [logp, entropy, lse] = forward(test, temperature);
          expectClose(logp, expected.logp, 2e-6);
          expectClose(entropy, expected.entropy, 3e-6);
          expectClose(lse, expected.lse, 2e-6);
        }
      }
    }));

  it('gives the entropy of a near-certain row as a small positive number', () =>
    withThreads(1, () => {
      const test = makeCase(40, 12, 300, 12);
      const expected = reference(test, 1);
      const [, entropy] = forward(test, 1);
      expectClose(entropy, expected.entropy, 2e-5);
      expect(Math.min(...(entropy ?? []))).toBeGreaterThanOrEqual(0);
    }));

  it('returns the scaled logits where it is to keep them', () =>
    withThreads(1, () => {
      const test = {
        ...makeCase(1, 2, 3),
        hidden: { values: Float32Array.of(1, 2), shape: [1, 2] },
        weight: { values: Float32Array.of(1, 0, 0, 1, 1, 1), shape: [3, 2] },
      };
      expectClose(forward(test, 0.5, true)[3], [2, 4, 6], 1e-6);
      expect(forward(test, 0.5).length).toBe(3);
    }));

  it('shows a target outside the vocabulary as NaN', () =>
    withThreads(1, () => {
      const test = { ...makeCase(2, 3, 10), targets: { values: Int32Array.of(10, -1), shape: [2] } };
      expect(Array.from(forward(test, 1)[0] ?? [])).toEqual([Number.NaN, Number.NaN]);
    }));

  it('rejects temperature 0', () =>
    withThreads(1, () => {
      expect(() => forward(makeCase(2, 3, 10), 0)).toThrow('above 0, got 0');
    }));
});

describe('SelectiveLogSoftmaxGrad', () => {
  it('matches float64 gradients, with kept logits and without', () =>
    withThreads(2, () => {
      for (const [rows, width, vocabulary] of sizes) {
        const test = makeCase(rows, width, vocabulary);
        const expected = reference(test, 0.8);
        for (const kept of [false, true]) {
          const [dhidden, dweight] = backward(test, 0.8, { needHidden: true, needWeight: true }, kept);
          expectClose(dhidden, expected.dhidden, 3e-6);
          expectClose(dweight, expected.dweight, 3e-6);
        }
      }
    }));

  it('agrees with finite differences', () =>
    withThreads(1, () => {
      const test = makeCase(3, 4, 11);
      const [dhidden] = backward(test, 1, { needHidden: true, needWeight: false });
      const loss = (values: Floats) => {
        const { logp, entropy } = reference({ ...test, hidden: { ...test.hidden, values } }, 1);
        const weighted = (x: Float64Array, by: Floats) => x.reduce((sum, value, i) => sum + value * (by[i] ?? 0), 0);
        return weighted(logp, test.dlogp.values) + weighted(entropy, test.dentropy.values);
      };
      test.hidden.values.forEach((value, at) => {
        const up = test.hidden.values.slice();
        const down = test.hidden.values.slice();
        up[at] = value + 1e-2;
        down[at] = value - 1e-2;
        expect(dhidden?.[at]).toBeCloseTo((loss(up) - loss(down)) / ((up[at] ?? 0) - (down[at] ?? 0)), 2);
      });
    }));

  it('returns scalars for gradients that are not needed', () =>
    withThreads(1, () => {
      const test = makeCase(5, 4, 9);
      expect(backward(test, 1, { needHidden: true, needWeight: false }).map((x) => x.length)).toEqual([20, 1]);
      expect(backward(test, 1, { needHidden: false, needWeight: true }).map((x) => x.length)).toEqual([1, 36]);
    }));

  it('gives the same bits with 1, 2 and 3 threads', () =>
    expectSameBits(() => {
      const test = makeCase(600, 24, 5000);
      return [...forward(test, 0.9), ...backward(test, 0.9, { needHidden: true, needWeight: true })];
    }));

  it('leaves nothing on the heap', () =>
    withThreads(2, (runtime) => {
      const test = makeCase(7, 5, 90);
      expectNoLeak(runtime, () => backward(test, 1, { needHidden: true, needWeight: true }, true));
    }));
});
