import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { gradients } from '../../main/tensor/backward.ts';
import { openTestBackends } from '../backends.ts';

describe.each(await openTestBackends())('gradients on $name', (backend) => {
  beforeAll(backend.use);

  it("are tfjs's own, through shared, reshaped and broadcast tensors", () => {
    const [x, w] = [
      tf.tensor2d([
        [1, -2],
        [3, 0.5],
      ]),
      tf.tensor2d([
        [2, 1],
        [-1, 4],
      ]),
    ];
    const f = (): tf.Scalar => {
      const h = tf.matMul(x, w);
      const sum = tf.add(tf.reshape(tf.add(h, h), [2, 2]), tf.mul(h, tf.sum(h)));
      return tf.sum(tf.square(tf.add(sum, x))) as tf.Scalar;
    };
    const expected = tf.engine().gradients(f, [x, w]);
    const { value, grads } = gradients(f, [x, w]);
    expect(value.dataSync()).toEqual(expected.value.dataSync());
    grads.forEach((grad, i) => {
      expect(grad?.arraySync()).toEqual(expected.grads[i]?.arraySync());
    });
  });

  it('hold two activations at a time, not all, and leave nothing over', () => {
    const x = tf.fill([1000], 0.5);
    const layers = 20;
    const before = tf.memory().numBytes;
    let most = 0;
    // An op that looks at the memory when its gradient is asked for: the last one of the pass.
    const watch = tf.customGrad((t) => ({
      value: (t as tf.Tensor).clone(),
      gradFunc: (dy: tf.Tensor) => {
        most = tf.memory().numBytes - before;
        return dy.clone();
      },
    }));
    tf.tidy(() => {
      gradients(() => {
        let h = watch(x);
        for (let i = 0; i < layers; i++) h = tf.tidy(() => tf.square(h));
        return tf.sum(h);
      }, [x]);
    });
    expect(most).toBeLessThan((layers / 2) * 4000);
    expect(tf.memory().numBytes).toBe(before);
  });
});
