import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { gradients } from '../../../main/tensor/backward.ts';
import { deltaRule } from '../../../main/tensor/ops/delta-rule.ts';
import type { SequenceLayout } from '../../../main/tensor/ops/recurrence.ts';
import { openTestBackends, tensorsLeft } from '../../backends.ts';
import { randomTensor } from './finite-differences.ts';

const SHAPE = { heads: 2, keyDim: 8, valueDim: 12 };
const { heads, keyDim, valueDim } = SHAPE;
/** A prompt of more than two chunks, two completions of it, and a sequence of one token. */
const LAYOUT: SequenceLayout = [
  { start: 0, length: 70, prefix: null },
  { start: 70, length: 40, prefix: 0 },
  { start: 110, length: 3, prefix: 0 },
  { start: 113, length: 1, prefix: null },
];
const TOKENS = 114;

/** q, k, v, the decay's logarithm and the strength. */
function inputs(seed: number, decay: number): tf.Tensor2D[] {
  const normal = (width: number, n: number): tf.Tensor2D => randomTensor<tf.Rank.R2>([TOKENS, width], seed + n);
  return tf.tidy(() => {
    const unit = (x: tf.Tensor2D): tf.Tensor2D => {
      const each = tf.reshape(x, [TOKENS * heads, keyDim]);
      return tf.reshape(tf.div(each, tf.sqrt(tf.sum(tf.mul(each, each), 1, true))), [TOKENS, heads * keyDim]);
    };
    return [
      unit(normal(heads * keyDim, 0)),
      unit(tf.add(normal(heads * keyDim, 1), 0.5)),
      normal(heads * valueDim, 2),
      tf.mul(tf.sigmoid(normal(heads, 3)), -decay),
      tf.sigmoid(normal(heads, 4)),
    ];
  });
}

/** The rule as it is defined, token by token, in double precision. */
function reference(given: readonly tf.Tensor2D[]): { readonly out: number[]; readonly last: number[] } {
  const [q, k, v, g, beta] = given.map((x) => x.dataSync<'float32'>()) as Float32Array[];
  const out = new Array<number>(TOKENS * heads * valueDim).fill(0);
  const states: number[][] = [];
  for (const { start, length, prefix } of LAYOUT) {
    const state = prefix === null ? new Array<number>(heads * keyDim * valueDim).fill(0) : [...(states[prefix] ?? [])];
    for (let t = start; t < start + length; t++) {
      for (let h = 0; h < heads; h++) {
        const at = (i: number, j: number): number => (h * keyDim + i) * valueDim + j;
        const key = (i: number): number => k?.[(t * heads + h) * keyDim + i] ?? 0;
        for (let j = 0; j < valueDim; j++) {
          let said = 0;
          for (let i = 0; i < keyDim; i++) {
            state[at(i, j)] = (state[at(i, j)] ?? 0) * Math.exp(g?.[t * heads + h] ?? 0);
            said += key(i) * (state[at(i, j)] ?? 0);
          }
          const value = v?.[(t * heads + h) * valueDim + j] ?? 0;
          const correction = (beta?.[t * heads + h] ?? 0) * (value - said);
          let read = 0;
          for (let i = 0; i < keyDim; i++) {
            state[at(i, j)] = (state[at(i, j)] ?? 0) + key(i) * correction;
            read += (q?.[(t * heads + h) * keyDim + i] ?? 0) * (state[at(i, j)] ?? 0);
          }
          out[(t * heads + h) * valueDim + j] = read;
        }
      }
    }
    states.push(state);
  }
  return { out, last: states.flat() };
}

function furthest(ours: ArrayLike<number>, theirs: readonly number[]): number {
  expect(ours.length).toBe(theirs.length);
  return theirs.reduce((most, value, i) => Math.max(most, Math.abs(value - (ours[i] ?? Number.NaN))), 0);
}

describe.each(await openTestBackends())('deltaRule on $name', (backend) => {
  beforeAll(backend.use);

  it.each([0.01, 1, 30])('gives packed what the rule gives token by token, with decays of e^-%d', (decay) => {
    tf.tidy(() => {
      const given = inputs(7, decay);
      const { out, last } = deltaRule(SHAPE).packed(given, LAYOUT, null);
      const expected = reference(given);
      expect(furthest(out.dataSync(), expected.out)).toBeLessThan(2e-6);
      expect(furthest(last.dataSync(), expected.last)).toBeLessThan(2e-6);
    });
  });

  it('gives by steps what it gives packed', () => {
    tf.tidy(() => {
      const given = inputs(9, 1);
      const { out, last } = deltaRule(SHAPE).packed(given, LAYOUT, null);
      let state = tf.slice(last, [0, 0], [1, -1]) as tf.Tensor2D;
      for (let t = 70; t < 73; t++) {
        const row = (x: tf.Tensor2D): tf.Tensor2D => tf.slice(x, [t, 0], [1, -1]);
        const next = deltaRule(SHAPE).step(given.map(row), state);
        state = next.state;
        expect(furthest(next.out.dataSync(), [...row(out).dataSync()])).toBeLessThan(2e-6);
      }
    });
  });

  it('continues from given states', () => {
    tf.tidy(() => {
      const given = inputs(9, 1);
      const { out, last } = deltaRule(SHAPE).packed(given, LAYOUT, null);
      const [prompt] = tf.split(last, LAYOUT.length, 0) as [tf.Tensor2D];
      const rest = given.map((x) => tf.slice(x, [70, 0], [40, -1])) as tf.Tensor2D[];
      const alone = deltaRule(SHAPE).packed(rest, [{ start: 0, length: 40, prefix: null }], prompt);
      expect(furthest(alone.out.dataSync(), [...tf.slice(out, [70, 0], [40, -1]).dataSync()])).toBeLessThan(2e-6);
    });
  });

  it.skipIf(backend.slow)('has the gradients of finite differences, and leaves no tensor behind', () => {
    const given = inputs(11, 1);
    const weights = randomTensor<tf.Rank.R2>([TOKENS, heads * valueDim], 99);
    const loss = (xs: readonly tf.Tensor2D[]): tf.Scalar =>
      tf.sum(tf.mul(deltaRule(SHAPE).packed(xs, LAYOUT, null).out, weights)) as tf.Scalar;
    const exact = (xs: readonly tf.Tensor2D[]): number => {
      const factors = weights.dataSync();
      return reference(xs).out.reduce((sum, value, i) => sum + value * (factors[i] ?? 0), 0);
    };
    const check = (): void => {
      const { value, grads } = gradients(() => loss(given), given);
      value.dispose();
      given.forEach((x, n) => {
        const found = (grads[n] as tf.Tensor).dataSync<'float32'>();
        // Along one direction, by doubles.
        const direction = randomTensor<tf.Rank.R2>(x.shape, 200 + n);
        const step = 1e-3;
        const moved = (sign: number): tf.Tensor2D[] =>
          given.map((each, m) => (m === n ? tf.add(each, tf.mul(direction, sign * step)) : each));
        const [above, below] = [tf.tidy(() => exact(moved(1))), tf.tidy(() => exact(moved(-1)))];
        const expected = (above - below) / (2 * step);
        const towards = direction.dataSync<'float32'>();
        const ours = Array.from(found).reduce(
          (sum: number, each: number, i: number) => sum + each * (towards[i] ?? 0),
          0,
        );
        direction.dispose();
        expect(Math.abs(ours - expected)).toBeLessThan(2e-3 * (1 + Math.abs(expected)));
      });
      tf.dispose(grads as tf.Tensor[]);
    };
    expect(tensorsLeft(check)).toBe(0);
    tf.dispose([given, weights]);
  });
});
