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

tf.registerGradient({
  kernelName: 'GatherRows',
  inputsToSave: ['x', 'indices'],
  gradFunc: (dy, saved) => {
    const rows = savedTensor(saved, 0).shape[0] ?? 0;
    const indices = savedTensor(saved, 1);
    return { x: () => runOp<tf.Tensor>('ScatterAddRows', { dy: dy as tf.Tensor, indices }, { rows }) };
  },
});

/** Row `indices[n]` of x for every n; index -1 gives a row of zeros. x [R, D], indices int32 [N] → [N, D]. */
export function gatherRows(x: tf.Tensor2D, indices: tf.Tensor1D): tf.Tensor2D {
  return runOp<tf.Tensor2D>('GatherRows', { x, indices });
}
