import * as tf from '@tensorflow/tfjs-core';
import { input, registerPortable, runOp, savedTensor } from '../portable.ts';

// N tokens, D width.

interface Attrs {
  readonly eps: number;
}

/** 1 / sqrt(mean(x²) + eps) of each row. */
function inverseRms(x: tf.Tensor2D, eps: number): tf.Tensor2D {
  return tf.rsqrt(tf.add(tf.mean(tf.square(x), 1, true), eps)); // [N, 1]
}

registerPortable<Attrs>('RmsNorm', (inputs, { eps }) => {
  const x = input<tf.Tensor2D>(inputs, 'x');
  return tf.mul(tf.mul(x, inverseRms(x, eps)), input(inputs, 'weight'));
});

registerPortable<Attrs>('RmsNormGradX', (inputs, { eps }) => {
  const x = input<tf.Tensor2D>(inputs, 'x');
  const inverse = inverseRms(x, eps);
  const g = tf.mul(input(inputs, 'dy'), input(inputs, 'weight'));
  const projected = tf.mul(tf.mean(tf.mul(g, x), 1, true), tf.square(inverse)); // [N, 1]
  return tf.mul(inverse, tf.sub(g, tf.mul(x, projected)));
});

registerPortable<Attrs>('RmsNormGradWeight', (inputs, { eps }) => {
  const x = input<tf.Tensor2D>(inputs, 'x');
  return tf.sum(tf.mul(input(inputs, 'dy'), tf.mul(x, inverseRms(x, eps))), 0);
});

tf.registerGradient({
  kernelName: 'RmsNorm',
  inputsToSave: ['x', 'weight'],
  gradFunc: (dy, saved, attrs) => {
    const x = savedTensor(saved, 0);
    const weight = savedTensor(saved, 1);
    return {
      x: () => runOp<tf.Tensor>('RmsNormGradX', { dy: dy as tf.Tensor, x, weight }, attrs),
      weight: () => runOp<tf.Tensor>('RmsNormGradWeight', { dy: dy as tf.Tensor, x }, attrs),
    };
  },
});

/** Root-mean-square norm of each row (Zhang and Sennrich 2019): x / rms(x) * weight. x [N, D], weight [D] → [N, D]. */
export function rmsNorm(x: tf.Tensor2D, weight: tf.Tensor1D, eps: number): tf.Tensor2D {
  return runOp<tf.Tensor2D>('RmsNorm', { x, weight }, { eps });
}
