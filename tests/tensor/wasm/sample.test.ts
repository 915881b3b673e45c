import { describe, expect, it } from 'vitest';
import { expectNoLeak, expectSameBits, type Floats, normals, runKernel, seeded, withThreads } from './fused-harness.ts';

function sample(logits: Floats, rows: number, uniforms: readonly number[], temperature: number) {
  const inputs = {
    logits: { values: logits, shape: [rows, logits.length / rows] },
    uniforms: { values: Float32Array.from(uniforms), shape: [rows] },
  };
  const [ids, logp] = runKernel('SampleRows', inputs, { temperature }) as [Floats, Floats];
  return { ids: Array.from(ids), logp: Array.from(logp) };
}

/** The same row of logits, `rows` times. */
function repeated(row: Floats | readonly number[], rows: number): Floats {
  return Float32Array.from({ length: row.length * rows }, (_, i) => row[i % row.length] ?? 0);
}

const largestBelowOne = 1 - 2 ** -24;

describe('SampleRows', () => {
  it('inverts the distribution function', () =>
    withThreads(1, () => {
      // Probabilities 0.1, 0.2, 0.3, 0.4.
      const logits = repeated([1, 2, 3, 4].map(Math.log), 6);
      const { ids, logp } = sample(logits, 6, [0, 0.0999, 0.1001, 0.299, 0.601, largestBelowOne], 1);
      expect(ids).toEqual([0, 0, 1, 1, 3, 3]);
      [0.1, 0.1, 0.2, 0.2, 0.4, 0.4].forEach((p, i) => {
        expect(logp[i]).toBeCloseTo(Math.log(p), 5);
      });
    }));

  it('divides the logits by the temperature, in the log-probability too', () =>
    withThreads(1, () => {
      // At temperature 0.5 the probabilities 1 : 2 become 1 : 4.
      const { ids, logp } = sample(repeated([0, Math.log(2)], 2), 2, [0.199, 0.201], 0.5);
      expect(ids).toEqual([0, 1]);
      expect(logp[0]).toBeCloseTo(Math.log(0.2), 5);
      expect(logp[1]).toBeCloseTo(Math.log(0.8), 5);
    }));

  it('never picks a token of probability zero', () =>
    withThreads(2, () => {
      const row = normals(1003, seeded(1));
      // Zeros at both ends and of whole blocks, by -Infinity and by underflow.
      row.fill(-Infinity, 0, 300).fill(-1e4, 500, 800).fill(-Infinity, 990);
      const uniforms = [0, 1e-9, 0.2, 0.5, 0.9, 0.99999, largestBelowOne];
      const { ids } = sample(repeated(row, uniforms.length), uniforms.length, uniforms, 1);
      for (const id of ids) expect(row[id]).toBeGreaterThan(-1e4);
      expect(ids[0]).toBe(300);
      expect(ids[6]).toBe(989);
    }));

  it('never picks one where rounding leaves the threshold above the sum of the weights', () =>
    withThreads(1, () => {
      const rows = 300;
      const logits = normals(rows * 256, seeded(5));
      for (let row = 0; row < rows; row++) logits.fill(-Infinity, row * 256 + 200, (row + 1) * 256);
      const { ids } = sample(
        logits,
        rows,
        Array.from({ length: rows }, () => largestBelowOne),
        1,
      );
      expect(Math.max(...ids)).toBe(199);
    }));

  it('takes the first largest logit at temperature 0, whose log-probability is that of temperature 1', () =>
    withThreads(1, () => {
      const { ids, logp } = sample(Float32Array.of(1, 5, 5, 0, 3, -2, 3, 1), 2, [0.99, 0], 0);
      expect(ids).toEqual([1, 0]);
      const total = Math.exp(1) + 2 * Math.exp(5) + 1;
      expect(logp[0]).toBeCloseTo(5 - Math.log(total), 5);
    }));

  it('draws each token as often as its probability says (chi-square)', () =>
    withThreads(2, () => {
      const stream = seeded(2);
      const row = normals(67, stream, 1.5);
      const temperature = 0.8;
      const rounds = 20;
      const draws = 2000;
      const counts = new Float64Array(row.length);
      for (let round = 0; round < rounds; round++) {
        const uniforms = Array.from({ length: draws }, () => stream.next());
        for (const id of sample(repeated(row, draws), draws, uniforms, temperature).ids) {
          counts[id] = (counts[id] ?? 0) + 1;
        }
      }
      const weights = Float64Array.from(row, (x) => Math.exp(x / temperature));
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      const chiSquare = weights.reduce((sum, weight, id) => {
        const expected = (weight / total) * rounds * draws;
        return sum + ((counts[id] ?? 0) - expected) ** 2 / expected;
      }, 0);
      // 66 degrees of freedom: mean 66, and 113 is the 99.97th percentile.
      expect(chiSquare).toBeLessThan(113);
    }));

  it('agrees with a float64 search over a large vocabulary', () =>
    withThreads(2, () => {
      const rows = 40;
      const width = 5001;
      const stream = seeded(3);
      const logits = normals(rows * width, stream, 3);
      const uniforms = Array.from({ length: rows }, () => Math.fround(stream.next()));
      const { ids, logp } = sample(logits, rows, uniforms, 1);
      for (let row = 0; row < rows; row++) {
        const weights = Array.from(logits.subarray(row * width, (row + 1) * width), Math.exp);
        const total = weights.reduce((sum, weight) => sum + weight, 0);
        const id = ids[row] ?? 0;
        const before = weights.slice(0, id).reduce((sum, weight) => sum + weight, 0) / total;
        const uniform = uniforms[row] ?? 0;
        expect(uniform).toBeGreaterThan(before - 1e-6);
        expect(uniform).toBeLessThan(before + (weights[id] ?? 0) / total + 1e-6);
        expect(logp[row]).toBeCloseTo(Math.log((weights[id] ?? 0) / total), 4);
      }
    }));

  it('shows a row that holds NaN by a NaN log-probability', () =>
    withThreads(1, () => {
      expect(sample(Float32Array.of(1, Number.NaN, 2), 1, [0.5], 1).logp).toEqual([Number.NaN]);
    }));

  it('gives the same bits with 1, 2 and 3 threads', () =>
    expectSameBits(() => {
      const stream = seeded(4);
      const logits = { values: normals(50 * 999, stream), shape: [50, 999] };
      const uniforms = { values: Float32Array.from({ length: 50 }, () => stream.next()), shape: [50] };
      return runKernel('SampleRows', { logits, uniforms }, { temperature: 1 });
    }));

  it('leaves nothing on the heap', () =>
    withThreads(2, (runtime) => expectNoLeak(runtime, () => sample(Float32Array.of(1, 2, 3), 1, [0.5], 1))));

  it('rejects a negative temperature', () =>
    withThreads(1, () => {
      expect(() => sample(Float32Array.of(1, 2), 1, [0.5], -1)).toThrow('at least 0, got -1');
    }));
});
