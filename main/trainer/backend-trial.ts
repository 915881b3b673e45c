/** How fast the current backend does what training does: products of a training pass, and of a decoding step. */
import * as tf from '@tensorflow/tfjs-core';

/** A model's width, a training pass's rows and a decoding step's, small enough for two seconds on any backend. */
const WIDTH = 1024;
const TRAINING_ROWS = 512;
const DECODING_ROWS = 16;
const DECODING_PRODUCTS = 64;

/** Trials are repeated for so long; the fastest counts. */
const TRIAL_MS = 1000;

/** Seconds of one round on the current backend, after one to warm up. */
export function secondsOfTrial(): number {
  const weight = tf.tidy(() => tf.fill([WIDTH, WIDTH], 1 / WIDTH)) as tf.Tensor2D;
  const [many, few] = [tf.ones([TRAINING_ROWS, WIDTH]), tf.ones([DECODING_ROWS, WIDTH])] as [tf.Tensor2D, tf.Tensor2D];
  const round = (): number => {
    const began = performance.now();
    tf.tidy(() => {
      const product = tf.matMul(many, weight, false, true);
      let step = few;
      for (let i = 0; i < DECODING_PRODUCTS; i++) step = tf.matMul(step, weight, false, true);
      // Reading waits for the work; a sum keeps the transfer out of it.
      tf.add(tf.sum(product), tf.sum(step)).dataSync();
    });
    return (performance.now() - began) / 1000;
  };
  try {
    round();
    const end = performance.now() + TRIAL_MS;
    let best = round();
    while (performance.now() < end) best = Math.min(best, round());
    return best;
  } finally {
    tf.dispose([weight, many, few]);
  }
}
