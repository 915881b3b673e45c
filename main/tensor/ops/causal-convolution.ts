/** A causal convolution of each channel by itself over packed sequences: tokens see the last K - 1 before them. */
import * as tf from '@tensorflow/tfjs-core';
import type { Cell, SequenceLayout } from './recurrence.ts';
import { gatherRows } from './rows.ts';

// N packed tokens, D channels, K taps, S sequences, B rows in flight.

/** `weight` [D, 1, K] as torch's Conv1d has it, the last tap for the token itself; `bias` [D]. State: K - 1 tokens. */
export function causalConvolution(weight: tf.Tensor, bias: tf.Tensor1D | null): Cell {
  const [channels = 0, , taps = 0] = weight.shape;
  const before = taps - 1;
  const byTap = (): tf.Tensor2D => tf.transpose(tf.reshape(weight, [channels, taps])); // [K, D]
  const biased = (sum: tf.Tensor2D): tf.Tensor2D => (bias === null ? sum : tf.add(sum, bias));
  return {
    packed: ([x], layout, initial) => {
      const own = x as tf.Tensor2D;
      const [tokens] = own.shape;
      const source = initial === null ? own : (tf.concat([own, tf.reshape(initial, [-1, channels])], 0) as tf.Tensor2D);
      const stateRow =
        initial === null ? null : (sequence: number, back: number) => tokens + sequence * before + before - back;
      const taken = (indices: Int32Array): tf.Tensor2D => gatherRows(source, tf.tensor1d(indices, 'int32'));
      const weights = tf.split(byTap(), taps, 0); // [1, D] each
      const terms = weights.map((tap, k) =>
        tf.mul(k === before ? own : taken(earlier(layout, tokens, before - k, stateRow)), tap),
      ) as tf.Tensor2D[];
      const out = biased(terms.reduce((sum, term) => tf.add(sum, term)));
      const last = tf.reshape<tf.Rank.R2>(taken(tails(layout, before, stateRow)), [layout.length, before * channels]);
      return { out, last };
    },
    step: ([x], state) => {
      const [rows] = state.shape;
      const seen = tf.concat([state, x as tf.Tensor2D], 1) as tf.Tensor2D; // [B, K*D]
      const out = biased(tf.sum(tf.mul(tf.reshape(seen, [rows, taps, channels]), byTap()), 1) as tf.Tensor2D);
      return { out, state: tf.slice(seen, [0, channels], [rows, before * channels]) };
    },
  };
}

/** The row of a sequence's state that is `back` tokens before its first; null: sequences begin with nothing. */
type StateRow = ((sequence: number, back: number) => number) | null;

/** Where the token at `position` of a sequence is; before its first one, in what it continues from. -1: there is none. */
function rowOf(layout: SequenceLayout, sequence: number, position: number, stateRow: StateRow): number {
  const place = layout[sequence];
  if (place === undefined) return -1;
  if (position >= 0) return place.start + position;
  const { prefix } = place;
  if (prefix !== null) return rowOf(layout, prefix, (layout[prefix]?.length ?? 0) + position, stateRow);
  return stateRow === null ? -1 : stateRow(sequence, -position);
}

/** Of each token, the row of the one `back` before it. [N] */
function earlier(layout: SequenceLayout, tokens: number, back: number, stateRow: StateRow): Int32Array {
  const rows = new Int32Array(tokens).fill(-1);
  layout.forEach(({ start, length }, sequence) => {
    for (let i = 0; i < length; i++) rows[start + i] = rowOf(layout, sequence, i - back, stateRow);
  });
  return rows;
}

/** The rows of each sequence's last tokens, oldest first. [S * count] */
function tails(layout: SequenceLayout, count: number, stateRow: StateRow): Int32Array {
  return Int32Array.from(
    layout.flatMap(({ length }, sequence) =>
      Array.from({ length: count }, (_, i) => rowOf(layout, sequence, length - count + i, stateRow)),
    ),
  );
}
