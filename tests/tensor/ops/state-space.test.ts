import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { gradients } from '../../../main/tensor/backward.ts';
import type { SequenceLayout } from '../../../main/tensor/ops/recurrence.ts';
import { stateSpace } from '../../../main/tensor/ops/state-space.ts';
import { openTestBackends, tensorsLeft } from '../../backends.ts';
import { randomTensor } from './finite-differences.ts';

const SHAPE = { groups: 2, heads: 4, stateDim: 6, headDim: 3, limits: [0, Number.POSITIVE_INFINITY] } as const;
const { groups, heads, stateDim, headDim } = SHAPE;
const SHARE = heads / groups;
/** A prompt of more than one chunk, two completions of it, and a sequence of one token. */
const LAYOUT: SequenceLayout = [
  { start: 0, length: 70, prefix: null },
  { start: 70, length: 66, prefix: 0 },
  { start: 136, length: 3, prefix: 0 },
  { start: 139, length: 1, prefix: null },
];
const TOKENS = 140;

interface Given {
  readonly inputs: readonly tf.Tensor2D[];
  readonly weights: { timeBias: tf.Tensor1D; decay: tf.Tensor1D; skip: tf.Tensor1D };
}

/** `spread`: of the steps, by which decays go from almost 1 to nothing within a chunk. */
function given(seed: number, spread = 1): Given {
  const vector = (n: number): tf.Tensor1D => randomTensor<tf.Rank.R1>([heads], seed + n);
  const mixed = randomTensor<tf.Rank.R2>([TOKENS, heads * headDim + 2 * groups * stateDim], seed);
  const dt = tf.tidy(() => tf.mul(randomTensor<tf.Rank.R2>([TOKENS, heads], seed + 1), spread) as tf.Tensor2D);
  return { inputs: [mixed, dt], weights: { timeBias: vector(2), decay: vector(3), skip: vector(4) } };
}

const numbers = (x: tf.Tensor): Float32Array => x.dataSync<'float32'>() as Float32Array;

/** The recurrence as it is defined, token by token, in double precision. */
function reference({ inputs, weights }: Given, limits: readonly [number, number] = SHAPE.limits) {
  const [mixed, dt] = inputs.map(numbers) as [Float32Array, Float32Array];
  const { timeBias, decay, skip } = weights;
  const [biases, rates, skips] = [numbers(timeBias), numbers(decay), numbers(skip)];
  const out = new Float64Array(TOKENS * heads * headDim);
  const states: Float64Array[] = [];
  const width = SHARE * headDim;
  for (const { start, length, prefix } of LAYOUT) {
    const state = states[prefix ?? -1]?.slice() ?? new Float64Array(heads * stateDim * headDim);
    for (let t = start; t < start + length; t++)
      for (let h = 0; h < heads; h++) {
        const soft = Math.log1p(Math.exp((dt[t * heads + h] ?? 0) + (biases[h] ?? 0)));
        const delta = Math.min(Math.max(soft, limits[0]), limits[1]);
        const kept = Math.exp(-delta * Math.exp(rates[h] ?? 0));
        const group = Math.floor(h / SHARE);
        const line = t * (heads * headDim + 2 * groups * stateDim);
        const shared = (which: number, k: number): number =>
          mixed[line + heads * headDim + (which * groups + group) * stateDim + k] ?? 0;
        for (let v = 0; v < headDim; v++) {
          const x = mixed[line + h * headDim + v] ?? 0;
          let sum = (skips[h] ?? 0) * x;
          for (let k = 0; k < stateDim; k++) {
            const at = (group * stateDim + k) * width + (h % SHARE) * headDim + v;
            state[at] = kept * (state[at] ?? 0) + shared(0, k) * delta * x;
            sum += shared(1, k) * (state[at] ?? 0);
          }
          out[(t * heads + h) * headDim + v] = sum;
        }
      }
    states.push(state);
  }
  return { out, last: states.flatMap((state) => [...state]) };
}

/** The largest difference, relative to the largest number. */
function furthest(ours: tf.Tensor, theirs: ArrayLike<number>): number {
  const values = numbers(ours);
  expect(values.length).toBe(theirs.length);
  const most = Array.from(theirs).reduce((largest, x) => Math.max(largest, Math.abs(x)), 1e-6);
  return values.reduce((largest, x, i) => Math.max(largest, Math.abs(x - (theirs[i] ?? Number.NaN))), 0) / most;
}

describe.each(await openTestBackends())('stateSpace on $name', (backend) => {
  beforeAll(backend.use);

  it.each([0.1, 1, 20])('gives packed what it gives token by token, with steps that differ by %d', (spread) => {
    tf.tidy(() => {
      const each = given(7, spread);
      const { out, last } = stateSpace(SHAPE, each.weights).packed(each.inputs, LAYOUT, null);
      const expected = reference(each);
      expect(furthest(out, expected.out)).toBeLessThan(2e-6);
      expect(furthest(last, expected.last)).toBeLessThan(2e-6);
    });
  });

  it('gives by steps what it gives packed, continues from states, and keeps steps within limits', () => {
    tf.tidy(() => {
      const limits = [0.3, 1.2] as const;
      const { inputs, weights } = given(9);
      const cell = stateSpace({ ...SHAPE, limits }, weights);
      const { out, last } = cell.packed(inputs, LAYOUT, null);
      expect(furthest(out, reference({ inputs, weights }, limits).out)).toBeLessThan(2e-6);
      const [prompt] = tf.split(last, LAYOUT.length, 0) as [tf.Tensor2D];
      const rest = inputs.map((x) => tf.slice(x, [70, 0], [66, -1])) as tf.Tensor2D[];
      const alone = cell.packed(rest, [{ start: 0, length: 66, prefix: null }], prompt);
      expect(furthest(alone.out, tf.slice(out, [70, 0], [66, -1]).dataSync())).toBeLessThan(2e-6);
      let state = tf.tile(prompt, [2, 1]);
      for (let t = 70; t < 73; t++) {
        const two = (x: tf.Tensor2D): tf.Tensor2D => tf.tile(tf.slice(x, [t, 0], [1, -1]), [2, 1]);
        const next = cell.step(inputs.map(two), state);
        state = next.state;
        expect(furthest(next.out, two(out).dataSync())).toBeLessThan(2e-6);
      }
    });
  });

  it.each([8, 36, 132])('gives by steps of heads of %d what it gives packed', (width) => {
    tf.tidy(() => {
      const shape = { ...SHAPE, headDim: width };
      const { weights } = given(13);
      const cell = stateSpace(shape, weights);
      const inner = heads * width;
      const mixed = randomTensor<tf.Rank.R2>([5, inner + 2 * groups * stateDim], 14);
      const dt = randomTensor<tf.Rank.R2>([5, heads], 15);
      const { out, last } = cell.packed([mixed, dt], [{ start: 0, length: 5, prefix: null }], null);
      let state = tf.zeros([2, inner * stateDim]) as tf.Tensor2D;
      for (let t = 0; t < 5; t++) {
        const two = (x: tf.Tensor2D): tf.Tensor2D => tf.tile(tf.slice(x, [t, 0], [1, -1]), [2, 1]);
        const next = cell.step([two(mixed), two(dt)], state);
        state = next.state;
        expect(furthest(next.out, two(out).dataSync())).toBeLessThan(2e-6);
      }
      expect(furthest(state, tf.tile(last, [2, 1]).dataSync())).toBeLessThan(2e-6);
    });
  });

  it.skipIf(backend.slow || backend.name === 'cpu')(
    'has the gradients of finite differences, and leaves no tensor behind',
    () => {
      const { inputs, weights } = given(11);
      const all = [...inputs, ...Object.values(weights)];
      const towards = randomTensor<tf.Rank.R2>([TOKENS, heads * headDim], 99);
      const of = (xs: readonly tf.Tensor[]): Given => {
        const [mixed, dt, timeBias, decay, skip] = xs as [tf.Tensor2D, tf.Tensor2D, ...tf.Tensor1D[]];
        return { inputs: [mixed, dt], weights: { timeBias, decay, skip } as Given['weights'] };
      };
      const loss = (): tf.Scalar =>
        tf.sum(tf.mul(stateSpace(SHAPE, weights).packed(inputs, LAYOUT, null, false).out, towards)) as tf.Scalar;
      const exact = (xs: readonly tf.Tensor[]): number => {
        const factors = numbers(towards);
        return reference(of(xs)).out.reduce((sum, value, i) => sum + value * (factors[i] ?? 0), 0);
      };
      const check = (): void => {
        const { value, grads } = gradients(loss, all);
        value.dispose();
        all.forEach((x, n) => {
          const direction = randomTensor(x.shape, 200 + n);
          const moved = (by: number): number =>
            tf.tidy(() => exact(all.map((each, m) => (m === n ? tf.add(each, tf.mul(direction, by)) : each))));
          const expected = (moved(1e-3) - moved(-1e-3)) / 2e-3;
          const along = numbers(direction);
          const ours = numbers(grads[n] as tf.Tensor).reduce((sum, each, i) => sum + each * (along[i] ?? 0), 0);
          direction.dispose();
          expect(Math.abs(ours - expected)).toBeLessThan(1e-3 * (1 + Math.abs(expected)));
        });
        tf.dispose(grads as tf.Tensor[]);
      };
      expect(tensorsLeft(check)).toBe(0);
      tf.dispose([all, towards]);
    },
  );
});
