import * as tf from '@tensorflow/tfjs-core';
import { ALL_BACKENDS, input, registerPortable, runOp } from '../portable.ts';
import { registerGatedGradient } from './gated-unit.ts';

// N tokens, F inner width.

/** gelu(x) ≈ x·σ(2·√(2/π)·(x + 0.044715·x³)), which is the usual formula with tanh. */
const SLOPE = 2 * Math.sqrt(2 / Math.PI);
const CUBIC = 0.044715;

/** gelu(x), and σ of the formula. What they are made of is freed at once: MLPs are wide. */
const geluOf = (x: tf.Tensor): tf.Tensor => tf.tidy(() => tf.mul(x, gateOf(x)));
const gateOf = (x: tf.Tensor): tf.Tensor => tf.tidy(() => tf.sigmoid(tf.mul(x, slopeOf(x, 1))));
const slopeOf = (x: tf.Tensor, times: number): tf.Tensor =>
  tf.tidy(() => tf.add(tf.mul(tf.square(x), times * SLOPE * CUBIC), SLOPE));

registerPortable('GeGlu', (inputs) => tf.mul(geluOf(input(inputs, 'gate')), input(inputs, 'up')), ALL_BACKENDS);

registerPortable(
  'GeGluGrad',
  (inputs) => {
    const [dy, gate, up] = [input(inputs, 'dy'), input(inputs, 'gate'), input(inputs, 'up')];
    const gelu = geluOf(gate);
    const dGelu = tf.tidy(() => {
      const sigmoid = gateOf(gate);
      const bend = tf.tidy(() => tf.mul(tf.mul(gelu, tf.sub(1, sigmoid)), slopeOf(gate, 3)));
      return tf.add(sigmoid, bend);
    });
    return [tf.tidy(() => tf.mul(tf.mul(dy, up), dGelu)), tf.mul(dy, gelu)];
  },
  ALL_BACKENDS,
);

registerGatedGradient('GeGlu');

/** The gated unit of Gemma's MLP (Shazeer 2020): gelu(gate) * up, by gelu's approximation with tanh. Both [N, F] → same. */
export function geglu(gate: tf.Tensor2D, up: tf.Tensor2D): tf.Tensor2D {
  return runOp<tf.Tensor2D>('GeGlu', { gate, up });
}
