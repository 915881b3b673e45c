import * as tf from '@tensorflow/tfjs-core';
import { EXCEPT_WASM, input, registerPortable, runOp } from '../portable.ts';

registerPortable(
  'Gelu',
  (inputs) => {
    const x = input(inputs, 'x');
    return tf.mul(tf.mul(x, 0.5), tf.add(tf.erf(tf.mul(x, Math.SQRT1_2)), 1));
  },
  EXCEPT_WASM,
);

/** x · Φ(x) by the error function (Hendrycks and Gimpel 2016), without a gradient. [N, F] → [N, F] */
export function gelu(x: tf.Tensor2D): tf.Tensor2D {
  return runOp<tf.Tensor2D>('Gelu', { x });
}
