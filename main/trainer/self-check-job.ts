/** Job: does this machine's tensor backend compute, correctly and how fast? */
import * as tf from '@tensorflow/tfjs-core';
import { randomStream } from '../random.ts';
import type { BackendChoice } from './backend.ts';

export interface SelfCheckJob extends BackendChoice {
  readonly kind: 'self-check';
}

export interface SelfCheckResult {
  /** Largest difference from the product computed in double precision. */
  readonly error: number;
  /** Billions of additions and multiplications a second, in 512 x 512 products. */
  readonly gflops: number;
}

/** Multiplies matrices and compares them with plain arithmetic. */
export async function runSelfCheckJob(): Promise<SelfCheckResult> {
  return { error: largestError(256), gflops: speed(512) };
}

function largestError(n: number): number {
  const [a, b] = [randomMatrix(n, 1), randomMatrix(n, 2)];
  const product = tf.tidy(() => tf.matMul(tf.tensor2d(a, [n, n]), tf.tensor2d(b, [n, n])).dataSync<'float32'>());
  let worst = 0;
  // Every seventh row: enough to notice a wrong tile, and done in a blink.
  for (let i = 0; i < n; i += 7) {
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let k = 0; k < n; k++) sum += (a[i * n + k] ?? 0) * (b[k * n + j] ?? 0);
      worst = Math.max(worst, Math.abs(sum - (product[i * n + j] ?? Number.NaN)));
    }
  }
  return worst;
}

function speed(n: number): number {
  const [a, b] = [tf.tensor2d(randomMatrix(n, 3), [n, n]), tf.tensor2d(randomMatrix(n, 4), [n, n])];
  const multiply = (): void => tf.tidy(() => void tf.matMul(a, b).dataSync());
  multiply();
  const began = performance.now();
  let rounds = 0;
  while (performance.now() - began < 200) {
    multiply();
    rounds++;
  }
  const seconds = (performance.now() - began) / 1000;
  tf.dispose([a, b]);
  return (rounds * 2 * n ** 3) / seconds / 1e9;
}

function randomMatrix(n: number, seed: number): Float32Array {
  const { next } = randomStream(seed);
  return Float32Array.from({ length: n * n }, () => 2 * next() - 1);
}
