import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import {
  expectClose,
  expectNoLeak,
  expectSameBits,
  type Floats,
  normals,
  seeded,
  withThreads,
} from './fused-harness.ts';

interface DecodeCase {
  readonly kvHeads: number;
  readonly group: number;
  readonly d: number;
  readonly capacity: number;
  readonly slots: number;
  readonly prefixTokens: number;
  /** (start, length, packed start) of each prompt. */
  readonly prompts: readonly (readonly [number, number, number])[];
  /** Slot and prompt of each row. */
  readonly rows: readonly (readonly [slot: number, prompt: number])[];
}

/** Every number that `steps` decoding steps consume. */
function dataOf({ kvHeads, group, d, prefixTokens, rows }: DecodeCase, steps: number) {
  const stream = seeded(rows.length * 100 + d);
  const width = kvHeads * d;
  const floats = (count: number) => normals(count, stream);
  return {
    prefixK: floats(prefixTokens * width),
    prefixV: floats(prefixTokens * width),
    steps: Array.from({ length: steps }, () => ({
      q: floats(rows.length * width * group),
      k: floats(rows.length * width),
      v: floats(rows.length * width),
    })),
  };
}

/** Places of all packed prompts, in panels of eight keys. */
const PLACES = 88;

/** Runs the steps on the current backend; returns each step's output and the final caches. */
function decode(test: DecodeCase, steps: number): Floats[] {
  const { kvHeads, group, d, capacity, slots, prefixTokens, prompts, rows } = test;
  const placed = rows.map(([slot, prompt]) => [slot, prompts[prompt]?.[2] ?? 0, prompts[prompt]?.[1] ?? 0]);
  const data = dataOf(test, steps);
  const width = kvHeads * d;
  const batch = rows.length;
  const attrs = { numHeads: kvHeads * group, numKvHeads: kvHeads, headDim: d, scale: d ** -0.5 };
  return tf.tidy(() => {
    const given = {
      k: tf.tensor2d(data.prefixK, [prefixTokens, width]),
      v: tf.tensor2d(data.prefixV, [prefixTokens, width]),
      prompts: tf.tensor2d(prompts.flat(), [prompts.length, 3], 'int32'),
    };
    const packed = tf.engine().runKernel('PackPrefix', given, { ...attrs, places: PLACES });
    const [prefixK, prefixV] = packed as [tf.Tensor, tf.Tensor];
    const shared = {
      prefixK,
      prefixV,
      ownK: tf.fill([slots, kvHeads, capacity, d], 7),
      ownV: tf.fill([slots, kvHeads, capacity, d], 7),
      rows: tf.tensor2d(placed.flat(), [batch, 3], 'int32'),
    };
    const outputs = data.steps.map(({ q, k, v }, step) => {
      const fresh = { q: tf.tensor2d(q, [batch, width * group]), k: tf.tensor2d(k, [batch, width]) };
      const inputs = { ...shared, ...fresh, v: tf.tensor2d(v, [batch, width]) };
      const positions = placed.map(([, , length = 0]) => length + step);
      const at = { ...inputs, positions: tf.tensor1d(positions, 'int32') };
      return tf.engine().runKernel('DecodeAttention', at, attrs) as tf.Tensor;
    });
    return [...outputs, shared.ownK, shared.ownV].map((tensor) => Float32Array.from(tensor.dataSync()));
  });
}

/** The same in float64 with plain lists of keys and values. */
function reference(test: DecodeCase, steps: number): Float64Array[] {
  const { kvHeads, group, d, prompts, rows } = test;
  const data = dataOf(test, steps);
  const width = kvHeads * d;
  return data.steps.map(({ q }, step) => {
    const out = new Float64Array(q.length);
    rows.forEach(([, prompt], row) => {
      const [start = 0, length = 0] = prompts[prompt] ?? [];
      for (let head = 0; head < kvHeads * group; head++) {
        const column = Math.floor(head / group) * d;
        const at = (row * kvHeads * group + head) * d;
        const keys = [
          ...Array.from({ length }, (_, i) => [data.prefixK, data.prefixV, (start + i) * width + column] as const),
          ...data.steps.slice(0, step + 1).map(({ k, v }) => [k, v, row * width + column] as const),
        ];
        const scores = keys.map(([k, , from]) => {
          let sum = 0;
          for (let c = 0; c < d; c++) sum += (q[at + c] ?? 0) * (k[from + c] ?? 0);
          return Math.exp(sum * d ** -0.5);
        });
        const total = scores.reduce((sum, score) => sum + score, 0);
        keys.forEach(([, v, from], j) => {
          const weight = (scores[j] ?? 0) / total;
          for (let c = 0; c < d; c++) out[at + c] = (out[at + c] ?? 0) + weight * (v[from + c] ?? 0);
        });
      }
    });
    return out;
  });
}

const base: DecodeCase = {
  kvHeads: 2,
  group: 2,
  d: 16,
  capacity: 80,
  slots: 5,
  prefixTokens: 90,
  prompts: [
    [5, 70, 16],
    [75, 13, 0],
    [0, 0, 0],
  ],
  // Three rows of one prompt, out of order in their slots; one of another; one without a prompt.
  rows: [
    [4, 0],
    [0, 0],
    [2, 0],
    [1, 1],
    [3, 2],
  ],
};

const cases: readonly (readonly [string, Partial<DecodeCase>, steps: number])[] = [
  ['shared prefixes, caches beyond a block', {}, 70],
  ['one query head a key head, width 8', { group: 1, d: 8 }, 5],
  ['three heads a key head, width 80', { group: 3, kvHeads: 1, d: 80 }, 6],
  ['four heads a key head, width 128', { group: 4, kvHeads: 1, d: 128 }, 3],
];

describe('DecodeAttention', () => {
  for (const [name, changes, steps] of cases) {
    it(`matches float64 attention: ${name}`, () =>
      withThreads(2, () => {
        const test = { ...base, ...changes };
        const outputs = decode(test, steps);
        reference(test, steps).forEach((expected, step) => {
          expectClose(outputs[step], expected, 2e-6);
        });
      }));
  }

  it('writes the new keys and values into their slots and nowhere else', () =>
    withThreads(2, () => {
      const steps = 3;
      const [ownK, ownV] = decode(base, steps).slice(steps) as [Floats, Floats];
      const { kvHeads, d, capacity } = base;
      const expected = { k: new Float32Array(ownK.length).fill(7), v: new Float32Array(ownV.length).fill(7) };
      dataOf(base, steps).steps.forEach(({ k, v }, step) => {
        base.rows.forEach(([slot], row) => {
          for (let head = 0; head < kvHeads; head++) {
            const from = (row * kvHeads + head) * d;
            const at = ((slot * kvHeads + head) * capacity + step) * d;
            expected.k.set(k.subarray(from, from + d), at);
            expected.v.set(v.subarray(from, from + d), at);
          }
        });
      });
      expect(ownK).toEqual(expected.k);
      expect(ownV).toEqual(expected.v);
    }));

  it('gives the same bits with 1, 2 and 3 threads, whose runs of rows differ', () =>
    expectSameBits(() => decode({ ...base, d: 64 }, 4)));

  it('leaves nothing on the heap', () => withThreads(2, (runtime) => expectNoLeak(runtime, () => decode(base, 2))));

  it('rejects slots, prefixes and steps outside their tensors', () =>
    withThreads(1, () => {
      expect(() => decode({ ...base, rows: [[5, 0]] }, 1)).toThrow('slot in 0..4, got 5');
      const packing = (prompt: readonly [number, number, number]) => () => decode({ ...base, prompts: [prompt] }, 1);
      expect(packing([80, 11, 0])).toThrow('a prompt within 0..90, got 80..91');
      expect(packing([0, -1, 0])).toThrow('a prompt within 0..90, got 0..-1');
      // Whole panels: 73 keys take 80 places.
      expect(packing([0, 73, 16])).toThrow('a packed prompt within 0..88, got 16..96');
      expect(packing([0, 8, -8])).toThrow('a packed prompt within 0..88, got -8..0');
      expect(() => decode({ ...base, capacity: 1 }, 2)).toThrow('0..0, got 1');
    }));
});
