import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import '../../../main/tensor/gradients.ts';
import { problemSentence } from '../../../main/native/problems.ts';
import { openNativeBackend } from '../../../main/tensor/native/open.ts';

const opened = await openNativeBackend(2);
const present = opened.ok && opened.kernels && !opened.gpu;
if (!present)
  console.warn(`skipped: ${opened.ok ? 'the addon has no kernels of ours' : problemSentence(opened.problem)}`);

/** Numbers between -1 and 1 that repeat nowhere. */
const numbers = (count: number, seed: number): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => Math.sin(i * 1.7 + seed));

describe.runIf(present)("the addon's kernels", () => {
  const sizes = [
    ...[
      [1, 1, 1],
      [1, 9, 7],
      [3, 5, 8],
      [6, 16, 4],
      [7, 17, 33],
      [32, 50, 40],
      [33, 50, 40],
      [100, 31, 500],
    ],
    ...[
      [13, 3000, 17],
      [2, 70, 1000],
      [64, 64, 9000],
    ],
  ] as const;

  it.each(sizes)('multiply %i x %i matrices of depth %i, turned or not', (m = 1, n = 1, k = 1) => {
    for (const [transposeA, transposeB] of [
      [false, false],
      [true, false],
      [false, true],
      [true, true],
    ] as const) {
      const [x, y] = [numbers(m * k, 1), numbers(k * n, 2)];
      const a = tf.tensor2d(x, transposeA ? [k, m] : [m, k]);
      const b = tf.tensor2d(y, transposeB ? [n, k] : [k, n]);
      const product = tf.matMul(a, b, transposeA, transposeB).dataSync();
      let worst = 0;
      for (let at = 0; at < m * n; at += Math.max(1, Math.floor((m * n) / 500))) {
        const [i, j] = [Math.floor(at / n), at % n];
        let sum = 0;
        for (let l = 0; l < k; l++)
          sum += (x[transposeA ? l * m + i : i * k + l] ?? 0) * (y[transposeB ? j * k + l : l * n + j] ?? 0);
        worst = Math.max(worst, Math.abs(sum - (product[at] ?? Number.NaN)));
      }
      expect(worst).toBeLessThan(1e-6 * k + 1e-6);
    }
  });

  it('leave alone what shares its numbers with a tensor that they change', () => {
    const values = numbers(64, 3);
    const before = values.slice();
    const [target, x] = [tf.tensor1d(values), tf.ones([64])];
    const copy = target.clone();
    tf.engine().runKernel('AddInPlace', { target, x }, { scale: 2 });
    expect(values).toEqual(before);
    target.dataSync<'float32'>().forEach((value, i) => {
      expect(value).toBeCloseTo((before[i] ?? 0) + 2, 6);
    });
    copy.dispose();
  });

  it('refuse tensors whose sizes do not go together', () => {
    expect(() => tf.engine().runKernel('SwiGlu', { gate: tf.ones([2, 3]), up: tf.ones([3, 2]) })).toThrow(
      'Expected up to be [2, 3], got [3, 2]',
    );
    expect(() => tf.engine().runKernel('RmsNorm', { x: tf.ones([4]), weight: tf.ones([4]) }, { eps: 1e-5 })).toThrow(
      'Expected x to be a matrix, got [4]',
    );
  });
});
