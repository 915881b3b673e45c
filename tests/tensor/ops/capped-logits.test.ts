import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { gradients } from '../../../main/tensor/backward.ts';
import { CAPPED_COPIES, capped, cappedSpread } from '../../../main/tensor/ops/capped-logits.ts';
import { weightProduct } from '../../../main/tensor/ops/weight-product.ts';
import { openTestBackends } from '../../backends.ts';
import { gradientError, randomTensor } from './finite-differences.ts';

/** The most bytes that a backend's buffers take besides those that are there; tfjs counts one again for each tensor in it. */
function peakBytes(work: () => void): number {
  const { tensorInfo } = tf.engine().state as unknown as { readonly tensorInfo: WeakMap<object, tf.TensorInfo> };
  const sizes = new Map<object, number>();
  let most = 0;
  const plain = { set: tensorInfo.set, delete: tensorInfo.delete };
  const hooks = {
    set(this: typeof tensorInfo, key: object, info: tf.TensorInfo) {
      if (!tensorInfo.has(key)) sizes.set(key, 4 * info.shape.reduce((size, length) => size * length, 1));
      most = Math.max(
        most,
        [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0),
      );
      return plain.set.call(tensorInfo, key, info);
    },
    delete(this: typeof tensorInfo, key: object) {
      sizes.delete(key);
      return plain.delete.call(tensorInfo, key);
    },
  };
  Object.assign(tensorInfo, hooks);
  try {
    work();
  } finally {
    Object.assign(tensorInfo, plain);
  }
  return most;
}

describe.each(await openTestBackends())('capped logits on $name', (backend) => {
  beforeAll(backend.use);
  const logits = tf.tidy(() => tf.mul(randomTensor<tf.Rank.R2>([3, 7], 1), 40) as tf.Tensor2D);

  it('stay within the cap', () => {
    expect(capped(tf.tensor2d([[-1e6, 0, 1e6]]), 30).arraySync()).toEqual([[-30, 0, 30]]);
  });

  it('give the logarithm of their sum and their entropy', () => {
    const scaled = (logits.arraySync() as number[][]).map((row) => row.map((x) => (30 * Math.tanh(x / 30)) / 0.7));
    const expected = scaled.map((row) => {
      const sum = Math.log(row.reduce((all, y) => all + Math.exp(y), 0));
      return [sum, -row.reduce((all, y) => all + Math.exp(y - sum) * (y - sum), 0)];
    });
    const found = cappedSpread(logits, 30, 0.7).arraySync();
    found.forEach((row, i) => {
      row.forEach((value, j) => {
        expect(value).toBeCloseTo(expected[i]?.[j] ?? Number.NaN, 4);
      });
    });
  });

  it('have the gradients of finite differences', () => {
    const x = randomTensor([3, 7], 2);
    expect(gradientError((of: tf.Tensor2D) => cappedSpread(of, 2, 0.7), [x])).toBeLessThan(1e-3);
  });

  it("take as many tensors of their size for the gradient as memory's plan counts", () => {
    const [n, width] = [8, 512];
    const [hidden, head] = [randomTensor<tf.Rank.R2>([n, 2], 3), randomTensor<tf.Rank.R2>([width, 2], 4)];
    const spread = (): tf.Tensor => tf.tidy(() => tf.sum(cappedSpread(weightProduct(hidden, head), 30, 1)));
    const most = peakBytes(() => {
      tf.tidy(() => {
        gradients(spread, [hidden]);
      });
    });
    expect(most / (4 * n * width)).toBeCloseTo(CAPPED_COPIES, 0);
  });
});
