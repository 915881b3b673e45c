import * as tf from '@tensorflow/tfjs-core';
import { runOp, savedTensor } from '../portable.ts';

/**
 * Registers the gradient of a gated unit, f(gate) · up with both [N, F]: the op `<name>Grad` of dy, gate and up gives
 * those of gate and up together.
 */
export function registerGatedGradient(name: string): void {
  tf.registerGradient({
    kernelName: name,
    inputsToSave: ['gate', 'up'],
    gradFunc: (dy, saved) => {
      const both = runOp<tf.Tensor[]>(`${name}Grad`, {
        dy: dy as tf.Tensor,
        gate: savedTensor(saved, 0),
        up: savedTensor(saved, 1),
      });
      return { gate: () => savedTensor(both, 0), up: () => savedTensor(both, 1) };
    },
  });
}
