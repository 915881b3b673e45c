import * as tf from '@tensorflow/tfjs-core';
import { EXCEPT_WASM, input, registerPortable, runOp } from '../portable.ts';

// N tokens, D width.

interface Attrs {
  readonly eps: number;
}

registerPortable<Attrs>(
  'LayerNorm',
  (inputs, { eps }) => {
    const x = input<tf.Tensor2D>(inputs, 'x');
    const centred = tf.sub(x, tf.mean(x, 1, true));
    const inverse = tf.rsqrt(tf.add(tf.mean(tf.square(centred), 1, true), eps)); // [N, 1]
    return tf.add(tf.mul(tf.mul(centred, inverse), input(inputs, 'weight')), input(inputs, 'bias'));
  },
  EXCEPT_WASM,
);

/** LayerNorm of each row (Ba et al. 2016), without a gradient. x [N, D], weight and bias [D] → [N, D]. */
export function layerNorm(x: tf.Tensor2D, weight: tf.Tensor1D, bias: tf.Tensor1D, eps: number): tf.Tensor2D {
  return runOp<tf.Tensor2D>('LayerNorm', { x, weight, bias }, { eps });
}
