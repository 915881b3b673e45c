/** A causal convolution of each channel by itself over packed sequences: tokens see the last K - 1 before them. */
import * as tf from '@tensorflow/tfjs-core';
import { keepingInputs } from '../gradient-checkpoint.ts';
import { runOp, savedTensor } from '../portable.ts';
import type { Cell, SequenceLayout } from './recurrence.ts';
import { gatherRows } from './rows.ts';

// N packed tokens, D channels, K taps, S sequences, B rows in flight.

/** What follows the sum. */
export type Activation = 'silu' | 'none';

/** Kernels take so many taps. */
const MOST_TAPS = 16;

/**
 * `weight` [D, 1, K] as torch's Conv1d has it, the last tap for the token itself; `bias` [D]. State: K - 1 tokens. A
 * backend's kernels compute it in one go ('CausalConvolution', 'CausalConvolutionGrad', 'CausalConvolutionStep').
 */
export function causalConvolution(weight: tf.Tensor, bias: tf.Tensor1D | null, activation: Activation = 'none'): Cell {
  const [, , taps = 0] = weight.shape;
  const [own, plain] = [fused(weight, bias, activation), plainCausalConvolution(weight, bias, activation)];
  return {
    packed: hasKernel('CausalConvolution', taps) ? own.packed : plain.packed,
    step: hasConvolutionStep(taps) ? own.step : plain.step,
  };
}

function hasKernel(name: string, taps: number): boolean {
  return taps <= MOST_TAPS && tf.getKernel(name, tf.getBackend()) !== undefined;
}

/** Whether the backend has a kernel for a step with so many taps. */
export function hasConvolutionStep(taps: number): boolean {
  return hasKernel('CausalConvolutionStep', taps);
}

function fused(weight: tf.Tensor, bias: tf.Tensor1D | null, activation: Activation): Cell {
  const [channels = 0, , taps = 0] = weight.shape;
  const count = taps - 1;
  const attrs = { silu: activation === 'silu' };
  const weights = (): { weight: tf.Tensor; bias: tf.Tensor } => ({ weight, bias: bias ?? tf.zeros([channels]) });
  return {
    packed: ([x], layout, initial, keepsStates) => {
      const source = sourceOf(x as tf.Tensor2D, initial, count);
      const rows = tf.tensor2d(earlierByTap(layout, source, count), [source.tokens, count], 'int32');
      const given = { x: source.own, ...weights(), rows, ...(source.before && { before: source.before }) };
      const out = runOp<tf.Tensor2D>('CausalConvolution', given, attrs);
      return { out, last: keepsStates === false ? tf.zeros([1, 1]) : tails(layout, source, count) };
    },
    step: ([x], states) => {
      const given = { x: x as tf.Tensor2D, ...weights(), states };
      return { out: runOp<tf.Tensor2D>('CausalConvolutionStep', given, attrs), state: states };
    },
  };
}

/** The same of plain ops. */
export function plainCausalConvolution(weight: tf.Tensor, bias: tf.Tensor1D | null, activation: Activation): Cell {
  const [channels = 0, , taps = 0] = weight.shape;
  const count = taps - 1;
  const byTap = (of: tf.Tensor): tf.Tensor2D => tf.transpose(tf.reshape(of, [channels, taps])); // [K, D]
  const finished = (sum: tf.Tensor2D, by: tf.Tensor | null): tf.Tensor2D => {
    const biased: tf.Tensor2D = by === null ? sum : tf.add(sum, by);
    return activation === 'silu' ? tf.mul(biased, tf.sigmoid(biased)) : biased;
  };
  return {
    packed: ([x], layout, initial, keepsStates) => {
      const run = ([own, weights, by = null]: readonly (tf.Tensor | null)[]): tf.Tensor2D => {
        const source = sourceOf(own as tf.Tensor2D, initial, count);
        const each = tf.split(byTap(weights as tf.Tensor), taps, 0); // [1, D] each
        const terms = each.map((tap, k) =>
          tf.mul(k === count ? source.own : taken(source, earlier(layout, source, count - k)), tap),
        ) as tf.Tensor2D[];
        return finished(
          terms.reduce((sum, term) => tf.add(sum, term)),
          by,
        );
      };
      const out = keepingInputs(run, [x as tf.Tensor2D, weight, ...(bias === null ? [] : [bias])]);
      const source = sourceOf(x as tf.Tensor2D, initial, count);
      return { out, last: keepsStates === false ? tf.zeros([1, 1]) : tails(layout, source, count) };
    },
    step: ([x], states) => {
      const [rows] = states.shape;
      const seen = tf.concat([states, x as tf.Tensor2D], 1) as tf.Tensor2D; // [B, K*D]
      const out = finished(
        tf.sum(tf.mul(tf.reshape(seen, [rows, taps, channels]), byTap(weight)), 1) as tf.Tensor2D,
        bias,
      );
      return { out, state: tf.slice(seen, [0, channels], [rows, count * channels]) };
    },
  };
}

tf.registerGradient({
  kernelName: 'CausalConvolution',
  inputsToSave: ['x', 'weight', 'bias', 'rows'],
  gradFunc: (dy, saved, attrs) => {
    const [x, weight, bias, rows] = [0, 1, 2, 3].map((n) => savedTensor(saved, n)) as [
      tf.Tensor,
      tf.Tensor,
      tf.Tensor,
      tf.Tensor,
    ];
    const inputs = { dy: dy as tf.Tensor, x, weight, bias, rows };
    const grads = runOp<tf.Tensor[]>('CausalConvolutionGrad', inputs, attrs);
    return {
      x: () => savedTensor(grads, 0),
      weight: () => savedTensor(grads, 1),
      bias: () => savedTensor(grads, 2),
    };
  },
});

/** Where taps are read: the tokens, and after them those before each sequence. */
interface Source {
  readonly own: tf.Tensor2D;
  readonly tokens: number;
  /** [S * count, D]; null: sequences begin with nothing. */
  readonly before: tf.Tensor2D | null;
  /** Tokens before each sequence. */
  readonly count: number;
}

function sourceOf(own: tf.Tensor2D, initial: tf.Tensor2D | null, count: number): Source {
  const [tokens, channels] = own.shape;
  return { own, tokens, before: initial && tf.reshape<tf.Rank.R2>(initial, [-1, channels]), count };
}

/** Rows of a source; zeros for -1. */
function taken({ own, before }: Source, indices: Int32Array): tf.Tensor2D {
  return gatherRows(before === null ? own : tf.concat([own, before], 0), tf.tensor1d(indices, 'int32'));
}

/** The row of the token at `position` of a sequence; before its first one, in what it continues. -1: there is none. */
function rowOf(layout: SequenceLayout, source: Source, sequence: number, position: number): number {
  const place = layout[sequence];
  if (place === undefined) return -1;
  if (position >= 0) return place.start + position;
  const { prefix } = place;
  if (prefix !== null) return rowOf(layout, source, prefix, (layout[prefix]?.length ?? 0) + position);
  return source.before === null ? -1 : source.tokens + (sequence + 1) * source.count + position;
}

/** Of each token, the row of the one `back` before it. [N] */
function earlier(layout: SequenceLayout, source: Source, back: number): Int32Array {
  const rows = new Int32Array(source.tokens).fill(-1);
  layout.forEach(({ start, length }, sequence) => {
    for (let i = 0; i < length; i++) rows[start + i] = rowOf(layout, source, sequence, i - back);
  });
  return rows;
}

/** The same of the `count` before it, oldest first. [N, count] */
function earlierByTap(layout: SequenceLayout, source: Source, count: number): Int32Array {
  const rows = new Int32Array(source.tokens * count);
  for (let tap = 0; tap < count; tap++)
    earlier(layout, source, count - tap).forEach((row, n) => {
      rows[n * count + tap] = row;
    });
  return rows;
}

/** Each sequence's last tokens, oldest first: its state. [S, count * D] */
function tails(layout: SequenceLayout, source: Source, count: number): tf.Tensor2D {
  const rows = layout.flatMap(({ length }, sequence) =>
    Array.from({ length: count }, (_, i) => rowOf(layout, source, sequence, length - count + i)),
  );
  return tf.reshape(taken(source, Int32Array.from(rows)), [layout.length, -1]);
}
