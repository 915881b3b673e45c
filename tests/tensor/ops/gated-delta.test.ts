import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { gradients } from '../../../main/tensor/backward.ts';
import { causalConvolution, plainCausalConvolution } from '../../../main/tensor/ops/causal-convolution.ts';
import { gatedDeltaRule, plainGatedDeltaRule } from '../../../main/tensor/ops/gated-delta.ts';
import type { Cell, SequenceLayout } from '../../../main/tensor/ops/recurrence.ts';
import { openTestBackends, type TestBackend, tensorsLeft } from '../../backends.ts';
import { randomTensor } from './finite-differences.ts';

/** A prompt of more than two chunks, two completions of it, a sequence of one token, and two short ones. */
const LAYOUT: SequenceLayout = [
  { start: 0, length: 70, prefix: null },
  { start: 70, length: 40, prefix: 0 },
  { start: 110, length: 3, prefix: 0 },
  { start: 113, length: 1, prefix: null },
  { start: 114, length: 5, prefix: null },
  { start: 119, length: 33, prefix: 4 },
];
const TOKENS = 152;

const SHAPES = [
  { keyHeads: 2, valueHeads: 2, keyDim: 16, valueDim: 16 },
  { keyHeads: 2, valueHeads: 4, keyDim: 8, valueDim: 12 },
];

interface Case {
  readonly cell: Cell;
  readonly plain: Cell;
  readonly inputs: readonly tf.Tensor2D[];
  readonly weights: readonly tf.Tensor[];
}

function deltaCase(shape: (typeof SHAPES)[number], seed: number, spread: number): Case {
  const { keyHeads, valueHeads, keyDim, valueDim } = shape;
  const normal = (width: number, n: number): tf.Tensor2D => randomTensor<tf.Rank.R2>([TOKENS, width], seed + n);
  const mixed = normal(2 * keyHeads * keyDim + valueHeads * valueDim, 0);
  const a = tf.tidy(() => tf.mul(normal(valueHeads, 1), spread) as tf.Tensor2D);
  const timeBias = randomTensor<tf.Rank.R1>([valueHeads], seed + 3);
  const decay = randomTensor<tf.Rank.R1>([valueHeads], seed + 4);
  const cell = gatedDeltaRule(shape, { timeBias, decay });
  const plain = plainGatedDeltaRule(shape, { timeBias, decay });
  return { cell, plain, inputs: [mixed, a, normal(valueHeads, 2)], weights: [timeBias, decay] };
}

function convolutionCase(seed: number): Case {
  const weight = randomTensor<tf.Rank.R3>([70, 1, 4], seed);
  const bias = randomTensor<tf.Rank.R1>([70], seed + 1);
  const cell = causalConvolution(weight, bias, 'silu');
  const plain = plainCausalConvolution(weight, bias, 'silu');
  return { cell, plain, inputs: [randomTensor<tf.Rank.R2>([TOKENS, 70], seed + 2)], weights: [weight, bias] };
}

const CASES: readonly (readonly [name: string, make: () => Case])[] = [
  ['the delta rule', () => deltaCase(SHAPES[0] as (typeof SHAPES)[number], 5, 1)],
  ['the delta rule with strong decays', () => deltaCase(SHAPES[0] as (typeof SHAPES)[number], 6, 20)],
  ['the delta rule with shared keys', () => deltaCase(SHAPES[1] as (typeof SHAPES)[number], 7, 1)],
  ['the convolution', () => convolutionCase(8)],
];

/** Outputs, states and gradients of all inputs and weights, by name. */
function everything(cell: Cell, { inputs, weights }: Case): Record<string, Float32Array> {
  const { out, last } = tf.tidy(() => cell.packed(inputs, LAYOUT, null));
  const given = [...inputs, ...weights];
  const towards = randomTensor(out.shape, 99);
  const loss = (): tf.Scalar => tf.sum(tf.mul(cell.packed(inputs, LAYOUT, null, false).out, towards)) as tf.Scalar;
  const { value, grads } = gradients(loss, given);
  const found = Object.fromEntries(grads.map((grad, n) => [`gradient ${n}`, grad as tf.Tensor]));
  const numbers = Object.entries({ out, last, ...found }).map(([name, tensor]) => [
    name,
    Float32Array.from((tensor as tf.Tensor).dataSync()),
  ]);
  tf.dispose([out, last, value, towards, ...Object.values(found)]);
  return Object.fromEntries(numbers);
}

/** The largest difference, relative to the largest number. */
function distance(ours: Float32Array, theirs: Float32Array): number {
  expect(ours.length).toBe(theirs.length);
  const most = theirs.reduce((largest, x) => Math.max(largest, Math.abs(x)), 1e-6);
  return theirs.reduce((largest, x, i) => Math.max(largest, Math.abs(x - (ours[i] ?? Number.NaN))), 0) / most;
}

/** What GPUs sum up to a decay's gradient cancels: of decays that leave nothing, rounding is left. */
const bound = ({ name: backend }: TestBackend, name: string): number =>
  backend === 'webgpu' && name === 'gradient 4' ? 3e-4 : 1e-4;

/** On the portable one they are the plain ops, whose own tests are beside these. */
const BACKENDS = (await openTestBackends()).filter(({ name }) => name !== 'cpu');

describe.each(BACKENDS)('cells on $name', (backend) => {
  beforeAll(backend.use);

  it.each(backend.slow ? CASES.slice(1) : CASES)(
    'give of %s what plain ops give, and its gradients',
    async (_name, make) => {
      const all = (which: 'cell' | 'plain'): Record<string, Float32Array> => {
        let found: Record<string, Float32Array> = {};
        const find = (): void =>
          tf.tidy(() => {
            const given = make();
            found = everything(given[which], given);
          });
        expect(tensorsLeft(find)).toBe(0);
        return found;
      };
      if (backend.slow) await tf.setBackend('wasm');
      const theirs = all('plain');
      await backend.use();
      for (const [name, expected] of Object.entries(all('cell')))
        expect(distance(expected, theirs[name] as Float32Array), name).toBeLessThan(bound(backend, name));
    },
  );

  it.each(backend.slow ? CASES.slice(2) : CASES)(
    'give of %s by steps what they give packed, and continue from states',
    (_name, make) => {
      const check = (): void =>
        void tf.tidy(() => {
          const { cell, inputs } = make();
          const { out, last } = cell.packed(inputs, LAYOUT, null);
          const [prompt] = tf.split(last, LAYOUT.length, 0) as [tf.Tensor2D];
          const rest = inputs.map((x) => tf.slice(x, [70, 0], [40, -1])) as tf.Tensor2D[];
          const alone = cell.packed(rest, [{ start: 0, length: 40, prefix: null }], prompt);
          const expected = tf.slice(out, [70, 0], [40, -1]).dataSync<'float32'>() as Float32Array;
          expect(distance(alone.out.dataSync<'float32'>() as Float32Array, expected)).toBeLessThan(1e-5);
          let state = tf.tile(prompt, [2, 1]);
          for (let t = 70; t < 73; t++) {
            const rows = inputs.map((x) => tf.tile(tf.slice(x, [t, 0], [1, -1]), [2, 1])) as tf.Tensor2D[];
            const next = cell.step(rows, state);
            state = next.state;
            const both = tf.tile(tf.slice(out, [t, 0], [1, -1]), [2, 1]).dataSync<'float32'>() as Float32Array;
            expect(distance(next.out.dataSync<'float32'>() as Float32Array, both)).toBeLessThan(1e-5);
          }
        });
      expect(tensorsLeft(check)).toBe(0);
    },
  );
});
