import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { declareSavedOutputs, gradients } from '../../main/tensor/backward.ts';
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

  it('are zero in one number for an output that only its own gradient reads', () => {
    const kernelName = `WithSaved on ${backend.name}`;
    const shapes: number[][] = [];
    const gradFunc = (dys: tf.Tensor | tf.Tensor[]) => {
      const [dy, unread] = dys as tf.Tensor[];
      shapes.push(unread?.shape ?? []);
      return { x: () => tf.mul(dy as tf.Tensor, 2) };
    };
    tf.registerKernel({
      kernelName,
      backendName: tf.getBackend(),
      kernelFunc: ({ inputs: { x } }) => [tf.mul(x as tf.Tensor, 2), tf.zeros([50])],
    });
    tf.registerGradient({ kernelName, gradFunc });
    const f = (): tf.Scalar => {
      const [y] = tf.engine().runKernel(kernelName, { x }) as tf.Tensor[];
      return tf.sum(y as tf.Tensor) as tf.Scalar;
    };
    const x = tf.tensor1d([3, 4]);
    gradients(f, [x]);
    declareSavedOutputs(kernelName, [1]);
    expect([...(gradients(f, [x]).grads[0]?.dataSync() ?? [])]).toEqual([2, 2]);
    expect(shapes).toEqual([[50], []]);
    tf.unregisterGradient(kernelName);
    tf.unregisterKernel(kernelName, tf.getBackend());
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
