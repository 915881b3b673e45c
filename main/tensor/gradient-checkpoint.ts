import * as tf from '@tensorflow/tfjs-core';
import { gradients } from './backward.ts';
import { savedTensor } from './portable.ts';

/**
 * Runs `work` so that the tape keeps only its input: its intermediates are freed at once and recomputed when the
 * gradient needs them (Chen et al. 2016, arXiv 1604.06174). Costs one more forward pass of `work`.
 *
 * `work` must be a pure function of x and of `parameters`, the outer tensors whose gradients may be requested;
 * anything else it uses is treated as constant. x and the result are [N, D].
 */
export function checkpointed(
  work: (x: tf.Tensor2D) => tf.Tensor2D,
  x: tf.Tensor2D,
  parameters: readonly tf.Tensor[],
): tf.Tensor2D {
  const op = tf.customGrad((...args) => {
    const save = args.at(-1) as tf.GradSaveFunc;
    const input = args[0] as tf.Tensor2D;
    save([input]);
    return {
      value: tf.tidy(() => work(input)),
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) =>
        recomputed(work, savedTensor<tf.Tensor2D>(saved, 0), parameters, dy),
    };
  });
  return op(x, ...parameters) as tf.Tensor2D;
}

/** The same for an op of which every input is known: all of them are kept, and nothing else. */
export function checkpointedOp<T extends tf.Tensor>(work: (inputs: readonly T[]) => T, inputs: readonly T[]): T {
  const op = tf.customGrad((...args) => {
    const given = args.slice(0, -1) as T[];
    (args.at(-1) as tf.GradSaveFunc)(given);
    return {
      value: tf.tidy(() => work(given)),
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) =>
        outsideTape(() => gradients(() => work(saved as T[]), saved, dy).grads as tf.Tensor[]),
    };
  });
  return op(...inputs) as T;
}

/** Gradients with respect to x and each parameter, through a second forward pass. */
function recomputed(
  work: (x: tf.Tensor2D) => tf.Tensor2D,
  x: tf.Tensor2D,
  parameters: readonly tf.Tensor[],
  dy: tf.Tensor,
): tf.Tensor[] {
  return outsideTape(() => {
    const { grads } = gradients(() => work(x), [x, ...parameters], dy);
    return [x, ...parameters].map((tensor, i) => grads[i] ?? tf.zerosLike(tensor));
  });
}

/** tfjs has one tape at a time: a gradient inside a gradient would lose the outer one. */
function outsideTape<T>(work: () => T): T {
  const { state } = tf.engine();
  const { activeTape, gradientDepth } = state;
  try {
    state.gradientDepth = 0;
    return work();
  } finally {
    state.activeTape = activeTape as typeof state.activeTape;
    state.gradientDepth = gradientDepth;
  }
}
