/** Timing work that a GPU only queues: many pieces, then one wait, which costs more than a small piece takes. */
import * as tf from '@tensorflow/tfjs-core';

/** Pieces at most, however little each takes. */
const MOST_PIECES = 4096;

/** Seconds of a piece of `work`, of so many that they take `leastMs` with the wait for them; the first is not counted. */
export function secondsEach(work: () => void, wait: () => void, leastMs = 200): number {
  work();
  wait();
  for (let pieces = 1; ; pieces *= 2) {
    const began = performance.now();
    for (let i = 0; i < pieces; i++) work();
    wait();
    const took = performance.now() - began;
    if (took >= leastMs || pieces >= MOST_PIECES) return took / 1000 / pieces;
  }
}

/** Waits until the current backend has done everything: commands run in the order of their calls. */
export function waitForBackend(): void {
  tf.tidy(() => void tf.add(1, 1).dataSync());
}
