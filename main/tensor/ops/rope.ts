import * as tf from '@tensorflow/tfjs-core';
import { input, registerPortable, runOp, savedTensor } from '../portable.ts';

// N tokens, h heads, d head_dim, P positions in the tables.

interface Attrs {
  readonly headDim: number;
  readonly inverse: boolean;
}

/** cos and sin of every angle, [P, d/2] each. */
export interface RopeTables {
  readonly cos: tf.Tensor2D;
  readonly sin: tf.Tensor2D;
}

registerPortable<Attrs>('Rope', (inputs, { headDim, inverse }) => {
  const x = input<tf.Tensor2D>(inputs, 'x');
  const positions = input<tf.Tensor1D>(inputs, 'positions');
  const [n, width] = x.shape;
  const half = headDim / 2;
  const cos = tf.reshape(tf.gather(input(inputs, 'cos'), positions), [n, 1, half]);
  const table = tf.reshape(tf.gather(input(inputs, 'sin'), positions), [n, 1, half]);
  const sin = inverse ? tf.neg(table) : table;
  const heads = tf.reshape(x, [n, width / headDim, headDim]);
  const first = tf.slice(heads, [0, 0, 0], [-1, -1, half]);
  const second = tf.slice(heads, [0, 0, half], [-1, -1, half]);
  const rotated = tf.concat(
    [tf.sub(tf.mul(first, cos), tf.mul(second, sin)), tf.add(tf.mul(second, cos), tf.mul(first, sin))],
    2,
  );
  return tf.reshape(rotated, [n, width]);
});

tf.registerGradient({
  kernelName: 'Rope',
  inputsToSave: ['positions', 'cos', 'sin'],
  gradFunc: (dy, saved, attrs) => {
    const { headDim, inverse } = attrs as unknown as Attrs;
    const [positions, cos, sin] = [savedTensor(saved, 0), savedTensor(saved, 1), savedTensor(saved, 2)];
    // The gradient of a rotation is the inverse rotation.
    return {
      x: () => runOp<tf.Tensor>('Rope', { x: dy as tf.Tensor, positions, cos, sin }, { headDim, inverse: !inverse }),
    };
  },
});

/** Rotary position embedding, rotate-half convention (first half against second half of each head). x [N, h*d] → same. */
export function rope(x: tf.Tensor2D, positions: tf.Tensor1D, tables: RopeTables, headDim: number): tf.Tensor2D {
  return runOp<tf.Tensor2D>('Rope', { x, positions, cos: tables.cos, sin: tables.sin }, { headDim, inverse: false });
}
