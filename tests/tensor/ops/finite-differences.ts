/** Gradients on the tape against central finite differences. */
import * as tf from '@tensorflow/tfjs-core';
import { randomStream } from '../../../main/random.ts';

/** Numbers in ±1, given by the seed. */
export function randomTensor<R extends tf.Rank>(shape: tf.ShapeMap[R], seed: number): tf.Tensor<R> {
  const stream = randomStream(seed);
  const size = shape.reduce((a, b) => a * b, 1);
  return tf.tensor<R>(
    Float32Array.from({ length: size }, () => 2 * stream.next() - 1),
    shape,
  );
}

/** A function of as many tensors as it is given; an op casts them to the ranks that it wants. */
type Op = (...inputs: never[]) => tf.Tensor;

/** The step: float32 rounding of the value and the curvature of the op cost about as much here. */
const STEP = 1 / 64;

/**
 * The largest difference between the tape's gradients and finite differences, for a function of several tensors,
 * relative to the gradients' size where that is above 1. The function's output is weighed with fixed random numbers.
 */
export function gradientError(f: Op, inputs: readonly tf.Tensor[]): number {
  return tf.tidy(() => {
    const weighed = (...values: tf.Tensor[]): tf.Scalar => {
      const out = (f as (...tensors: tf.Tensor[]) => tf.Tensor)(...values);
      return tf.sum(tf.mul(out, randomTensor(out.shape as [number], 99)));
    };
    const gradients = tf.grads(weighed)([...inputs]);
    const errors = inputs.map((input, n) => {
      const values = input.dataSync<'float32'>();
      const analytic = gradients[n]?.dataSync<'float32'>() ?? new Float32Array(0);
      const at = (i: number, step: number): tf.Scalar =>
        tf.tidy(() => {
          const moved = values.slice();
          moved[i] = (values[i] ?? 0) + step;
          return weighed(...inputs.map((other, k) => (k === n ? tf.tensor(moved, input.shape) : other)));
        });
      // All are read at once: a GPU is waited for each time.
      const sums = tf.stack(Array.from(values, (_, i) => [at(i, STEP), at(i, -STEP)]).flat()).dataSync();
      return values.map((_, i) => {
        const numeric = ((sums[2 * i] ?? Number.NaN) - (sums[2 * i + 1] ?? Number.NaN)) / (2 * STEP);
        return Math.abs(numeric - (analytic[i] ?? Number.NaN)) / Math.max(1, Math.abs(numeric));
      });
    });
    return Math.max(...errors.flatMap((list) => [...list]));
  });
}
