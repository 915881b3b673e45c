import * as tf from '@tensorflow/tfjs-core';
import { ALL_BACKENDS, EXCEPT_WASM, input, registerPortable, runOp } from '../portable.ts';
import { registerGatedGradient } from './gated-unit.ts';

// N tokens, F columns.

registerPortable(
  'SigmoidGate',
  (inputs) => tf.mul(tf.sigmoid(input(inputs, 'gate')), input(inputs, 'up')),
  EXCEPT_WASM,
);

registerPortable(
  'SigmoidGateGrad',
  (inputs) => {
    const [dy, up] = [input(inputs, 'dy'), input(inputs, 'up')];
    const sigmoid = tf.sigmoid(input(inputs, 'gate'));
    const dUp = tf.mul(dy, sigmoid);
    return [tf.mul(tf.mul(dUp, up), tf.sub(1, sigmoid)), dUp];
  },
  ALL_BACKENDS,
);

registerGatedGradient('SigmoidGate');

/** The gate of attention's output in Qwen3.5: σ(gate) * up. Both [N, F] → same. */
export function sigmoidGate(gate: tf.Tensor2D, up: tf.Tensor2D): tf.Tensor2D {
  return runOp<tf.Tensor2D>('SigmoidGate', { gate, up });
}
