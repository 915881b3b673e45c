/** Logits that a model bends to stay within a cap, which no kernel does. N tokens, V vocabulary. */
import * as tf from '@tensorflow/tfjs-core';
import { savedTensor } from '../portable.ts';

/** Tensors as large as the logits, themselves included, that the gradient of `cappedSpread` holds at a time. */
export const CAPPED_COPIES = 6;

/** The cap's part that each of the logits takes, from -1 to 1. */
const bend = (logits: tf.Tensor2D, cap: number): tf.Tensor2D => tf.tidy(() => tf.tanh(tf.div(logits, cap)));

/** [N, V] → same */
export function capped(logits: tf.Tensor2D, cap: number): tf.Tensor2D {
  return tf.tidy(() => tf.mul(bend(logits, cap), cap));
}

/**
 * The logarithm of the sum, and the entropy, of capped logits / temperature: [N, V] → [N, 2]. The gradient is written
 * out, as the tape would hold twice as many tensors.
 */
export function cappedSpread(logits: tf.Tensor2D, cap: number, temperature: number): tf.Tensor2D {
  const op = tf.customGrad((...args) => {
    const given = args[0] as tf.Tensor2D;
    const value = spread(given, cap, temperature);
    (args.at(-1) as tf.GradSaveFunc)([given, value]);
    return {
      value,
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) =>
        spreadGradient(savedTensor(saved, 0), savedTensor(saved, 1), dy, cap, temperature),
    };
  });
  return op(logits) as tf.Tensor2D;
}

function spread(logits: tf.Tensor2D, cap: number, temperature: number): tf.Tensor2D {
  return tf.tidy(() => {
    const scaled = tf.tidy(() => tf.div(capped(logits, cap), temperature));
    const sums = tf.logSumExp(scaled, 1, true);
    const logProbs = tf.sub(scaled, sums);
    scaled.dispose();
    const terms = tf.tidy(() => tf.mul(tf.exp(logProbs), logProbs));
    return tf.concat([sums, tf.neg(tf.sum(terms, 1, true))], 1) as tf.Tensor2D;
  });
}

function spreadGradient(
  logits: tf.Tensor2D,
  spread: tf.Tensor2D,
  dy: tf.Tensor,
  cap: number,
  temperature: number,
): tf.Tensor2D {
  return tf.tidy(() => {
    const [sums, entropies] = tf.split(spread, 2, 1) as [tf.Tensor2D, tf.Tensor2D];
    const [dSums, dEntropies] = tf.split(dy, 2, 1) as [tf.Tensor2D, tf.Tensor2D];
    const bent = bend(logits, cap);
    const logProbs = tf.tidy(() => tf.sub(tf.div(tf.mul(bent, cap), temperature), sums));
    const dScaled = tf.tidy(() => {
      const factors = tf.tidy(() => tf.sub(dSums, tf.mul(dEntropies, tf.add(logProbs, entropies))));
      return tf.mul(tf.exp(logProbs), factors);
    });
    logProbs.dispose();
    const bends = tf.tidy(() => tf.div(tf.sub(1, tf.square(bent)), temperature));
    return tf.mul(dScaled, bends) as tf.Tensor2D;
  });
}
