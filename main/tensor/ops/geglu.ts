import * as tf from '@tensorflow/tfjs-core';
import { ALL_BACKENDS, input, registerPortable, runOp } from '../portable.ts';
import { registerGatedGradient } from './gated-unit.ts';

// N tokens, F inner width.

/** gelu(x) ≈ x·σ(2·√(2/π)·(x + 0.044715·x³)), which is the usual formula with tanh. */
const SLOPE = 2 * Math.sqrt(2 / Math.PI);
const CUBIC = 0.044715;

/** σ of the formula. */
function gateOf(x: tf.Tensor): tf.Tensor {
  return tf.sigmoid(tf.mul(x, tf.add(tf.mul(tf.square(x), SLOPE * CUBIC), SLOPE)));
}

registerPortable(
  'GeGlu',
  (inputs) => {
    const gate = input(inputs, 'gate');
    return tf.mul(tf.mul(gate, gateOf(gate)), input(inputs, 'up'));
  },
  ALL_BACKENDS,
);

registerPortable(
  'GeGluGrad',
  (inputs) => {
    const [dy, gate, up] = [input(inputs, 'dy'), input(inputs, 'gate'), input(inputs, 'up')];
    const sigmoid = gateOf(gate);
    const gelu = tf.mul(gate, sigmoid);
    const dInner = tf.add(tf.mul(tf.square(gate), 3 * SLOPE * CUBIC), SLOPE);
    const dGelu = tf.add(sigmoid, tf.mul(tf.mul(gelu, tf.sub(1, sigmoid)), dInner));
    return [tf.mul(tf.mul(dy, up), dGelu), tf.mul(dy, gelu)];
  },
  ALL_BACKENDS,
);

registerGatedGradient('GeGlu');

/** The gated unit of Gemma's MLP (Shazeer 2020): gelu(gate) * up, by gelu's approximation with tanh. Both [N, F] → same. */
export function geglu(gate: tf.Tensor2D, up: tf.Tensor2D): tf.Tensor2D {
  return runOp<tf.Tensor2D>('GeGlu', { gate, up });
}
