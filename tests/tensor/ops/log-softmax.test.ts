import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { gradients } from '../../../main/tensor/backward.ts';
import { selectiveLogSoftmax } from '../../../main/tensor/ops/log-softmax.ts';
import { openTestBackends, tensorsLeft } from '../../backends.ts';
import { gradientError, randomTensor } from './finite-differences.ts';

const both = (hidden: tf.Tensor2D, weight: tf.Tensor2D, targets: number[], temperature: number) =>
  selectiveLogSoftmax(hidden, weight, tf.tensor1d(targets, 'int32'), { temperature, trainWeight: true });

describe.each(await openTestBackends())('selectiveLogSoftmax on $name', (backend) => {
  beforeAll(backend.use);

  it("gives the target's log-probability and the entropy of logits / temperature", () => {
    // Logits 2 * (ln 1, ln 2, ln 5): at temperature 2 the probabilities are 1/8, 2/8, 5/8.
    const logits = [1, 2, 5].map((p) => 2 * Math.log(p));
    const hidden = tf.tensor2d([[1, 0]]);
    const weight = tf.tensor2d(logits.map((logit) => [logit, 9]));
    const { logps, entropies } = both(hidden, weight, [2], 2);
    expect(logps.dataSync()[0]).toBeCloseTo(Math.log(5 / 8), 5);
    expect(entropies.dataSync()[0]).toBeCloseTo(Math.log(8) - (2 * Math.log(2) + 5 * Math.log(5)) / 8, 5);
  });

  it('handles logits of a thousand', () => {
    const { logps, entropies } = both(tf.tensor2d([[1000], [1000]]), tf.tensor2d([[1], [0], [-1]]), [0, 2], 1);
    expect([...logps.dataSync()]).toEqual([0, -2000]);
    expect(entropies.dataSync().every((value) => Math.abs(value) < 1e-6)).toBe(true);
  });

  it.each([1, 0.7])('has the gradients of finite differences at temperature %d', (temperature) => {
    const inputs = [randomTensor([4, 8], 1), randomTensor([11, 8], 2)];
    const targets = [0, 10, 3, 3];
    const logps = (h: tf.Tensor2D, w: tf.Tensor2D): tf.Tensor => both(h, w, targets, temperature).logps;
    const entropies = (h: tf.Tensor2D, w: tf.Tensor2D): tf.Tensor => both(h, w, targets, temperature).entropies;
    expect(gradientError(logps, inputs)).toBeLessThan(1e-3);
    expect(gradientError(entropies, inputs)).toBeLessThan(1e-3);
    const together = (h: tf.Tensor2D, w: tf.Tensor2D): tf.Tensor => {
      const outputs = both(h, w, targets, temperature);
      return tf.add(outputs.logps, tf.mul(0.5, outputs.entropies));
    };
    expect(gradientError(together, inputs)).toBeLessThan(1e-3);
  });

  it('gives the hidden states their gradient when the weight is frozen', () => {
    const weight = randomTensor<tf.Rank.R2>([11, 8], 2);
    const targets = tf.tensor1d([0, 10, 3, 3], 'int32');
    const f = (h: tf.Tensor2D): tf.Tensor =>
      selectiveLogSoftmax(h, weight, targets, { temperature: 1, trainWeight: false }).logps;
    expect(gradientError(f, [randomTensor([4, 8], 1)])).toBeLessThan(1e-3);
  });

  it('gives the same bits whether logits may be kept for the gradient or not, and releases them', () => {
    const [hidden, weight] = [randomTensor<tf.Rank.R2>([40, 8], 1), randomTensor<tf.Rank.R2>([110, 8], 2)];
    const targets = tf.tensor1d(
      Array.from({ length: 40 }, (_, i) => 2 * i),
      'int32',
    );
    const passes = [0, 4 * 40 * 110].map((keptBytes) => {
      const before = tf.memory();
      let live = 0;
      const found = gradients(() => {
        const options = { temperature: 0.7, trainWeight: true, keptBytes };
        const { logps, entropies } = selectiveLogSoftmax(hidden, weight, targets, options);
        live = tf.memory().numBytes - before.numBytes;
        return tf.sum(tf.add(tf.mul(logps, logps), entropies));
      }, [hidden, weight]);
      const numbers = found.grads.map((grad) => [...(grad as tf.Tensor).dataSync<'float32'>()]);
      tf.dispose([found.value, ...(found.grads as tf.Tensor[])]);
      return { live, numbers, left: tf.memory().numBytes - before.numBytes };
    });
    const [again, kept] = passes as [(typeof passes)[0], (typeof passes)[0]];
    expect(kept.numbers).toEqual(again.numbers);
    expect(kept.left).toBe(0);
    // Only wasm keeps logits on demand; native keeps probabilities by a limit of its own.
    expect(kept.live - again.live).toBe(tf.getBackend() === 'wasm' ? 4 * 40 * 110 : 0);
  });

  it('leaves no tensors', () => {
    const [hidden, weight] = [randomTensor<tf.Rank.R2>([4, 8], 1), randomTensor<tf.Rank.R2>([11, 8], 2)];
    const targets = tf.tensor1d([0, 10, 3, 3], 'int32');
    const options = { temperature: 1, trainWeight: true };
    const f = (h: tf.Tensor, w: tf.Tensor): tf.Tensor =>
      selectiveLogSoftmax(h as tf.Tensor2D, w as tf.Tensor2D, targets, options).logps;
    expect(tensorsLeft(() => tf.dispose(tf.grads(f)([hidden, weight])))).toBe(0);
  });
});
