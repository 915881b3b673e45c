import * as tf from '@tensorflow/tfjs-core';
import { input, registerPortable, runOp, savedTensor } from '../portable.ts';

// R rows of a table, D their width, N rows picked.

registerPortable('GatherRows', (inputs) => {
  const indices = input<tf.Tensor1D>(inputs, 'indices');
  const present = tf.cast(tf.greaterEqual(indices, 0), 'float32'); // [N]
  const rows = tf.gather(input(inputs, 'x'), tf.cast(tf.maximum(indices, 0), 'int32'));
  return tf.mul(rows, tf.expandDims(present, 1));
});

registerPortable<{ rows: number }>('ScatterAddRows', (inputs, { rows }) => {
  const indices = input<tf.Tensor1D>(inputs, 'indices');
  const dy = input<tf.Tensor2D>(inputs, 'dy');
  // Rows for index -1 go into one extra row, which is cut off.
  const target = tf.where(tf.greaterEqual(indices, 0), indices, tf.fill(indices.shape, rows, 'int32'));
  return tf.slice(tf.unsortedSegmentSum(dy, tf.cast(target, 'int32') as tf.Tensor1D, rows + 1), [0, 0], [rows, -1]);
});

interface GatherAttrs {
  readonly frozenRow: number;
}

/** Indices with -1 for a row that is to get no gradient. */
function withoutRow(indices: tf.Tensor1D, row: number): tf.Tensor1D {
  if (row < 0) return indices;
  return tf.where(tf.equal(indices, tf.scalar(row, 'int32')), tf.fill(indices.shape, -1, 'int32'), indices);
}

tf.registerGradient({
  kernelName: 'GatherRows',
  inputsToSave: ['x', 'indices'],
  gradFunc: (dy, saved, attrs) => {
    const rows = savedTensor(saved, 0).shape[0] ?? 0;
    const { frozenRow } = attrs as unknown as GatherAttrs;
    const indices = withoutRow(savedTensor<tf.Tensor1D>(saved, 1), frozenRow);
    return { x: () => runOp<tf.Tensor>('ScatterAddRows', { dy: dy as tf.Tensor, indices }, { rows }) };
  },
});

/**
 * Row `indices[n]` of x for every n; index -1 gives a row of zeros. x [R, D], indices int32 [N] → [N, D]. The gradient
 * of x is 0 at `frozenRow` (torch's padding_idx); -1: no such row.
 */
export function gatherRows(x: tf.Tensor2D, indices: tf.Tensor1D, frozenRow = -1): tf.Tensor2D {
  return runOp<tf.Tensor2D>('GatherRows', { x, indices }, { frozenRow });
}

/** These rows of x alone, in this order. Takes x over: it is given back if that is all of it, otherwise freed. */
export function onlyRows(x: tf.Tensor2D, rows: readonly number[]): tf.Tensor2D {
  if (rows.length === x.shape[0] && rows.every((row, i) => row === i)) return x;
  try {
    return tf.tidy(() => gatherRows(x, tf.tensor1d([...rows], 'int32')));
  } finally {
    x.dispose();
  }
}
