import * as tf from '@tensorflow/tfjs-core';
import { input, registerPortable, runOp } from '../portable.ts';
import { registerGatedGradient } from './gated-unit.ts';

// N tokens, F inner width.

registerPortable('SwiGlu', (inputs) => {
  const gate = input(inputs, 'gate');
  return tf.mul(tf.mul(gate, tf.sigmoid(gate)), input(inputs, 'up'));
});

registerPortable('SwiGluGrad', (inputs) => {
  const [dy, gate, up] = [input(inputs, 'dy'), input(inputs, 'gate'), input(inputs, 'up')];
  const sigmoid = tf.sigmoid(gate);
  const silu = tf.mul(gate, sigmoid);
  const dSilu = tf.mul(sigmoid, tf.add(1, tf.mul(gate, tf.sub(1, sigmoid))));
  return [tf.mul(tf.mul(dy, up), dSilu), tf.mul(dy, silu)];
});

registerGatedGradient('SwiGlu');

/** The gated unit of Llama's MLP (Shazeer 2020): silu(gate) * up. Both [N, F] → [N, F]. */
export function swiglu(gate: tf.Tensor2D, up: tf.Tensor2D): tf.Tensor2D {
  return runOp<tf.Tensor2D>('SwiGlu', { gate, up });
}
