import * as tf from '@tensorflow/tfjs-core';
import { afterEach, describe, expect, it } from 'vitest';
import type { AdamWAttrs } from '../../../main/tensor/ops/adamw.ts';
import { closeWasmBackend } from '../../../main/tensor/wasm/boot.ts';
import type { WasmRuntime } from '../../../main/tensor/wasm/runtime.ts';
import { noise, openForTest } from './open.ts';

let runtime: WasmRuntime;
afterEach(() => closeWasmBackend(runtime));

function runKernel(name: string, inputs: Record<string, tf.Tensor>, attrs: object = {}): tf.Tensor {
  return tf.engine().runKernel(name, inputs, attrs as tf.NamedAttrMap) as tf.Tensor;
}

const attrs: AdamWAttrs = { lr: 0.1, beta1: 0.9, beta2: 0.99, eps: 1e-8, weightDecay: 0.01, step: 1 };

describe('AdamW', () => {
  it('takes the steps of torch.optim.AdamW', async () => {
    runtime = await openForTest(2);
    const [param, m, v] = [tf.tensor1d([1, -2, 0.5, 3, 4]), tf.zeros([5]), tf.zeros([5])];
    const grad = tf.tensor1d([0.5, -1, 0, 2, 1e-3]);
    // Step 1 from zero moments: m/(1-beta1) = g and sqrt(v/(1-beta2)) = |g|, so p = p·(1 - lr·wd) - lr·g/(|g| + eps).
    runKernel('AdamW', { param, m, v, grad, gradScale: tf.scalar(1) }, attrs);
    expectClose(param, [0.899, -1.898, 0.4995, 2.897, 3.896001]);
    expectClose(m, [0.05, -0.1, 0, 0.2, 1e-4]);
    expectClose(v, [0.0025, 0.01, 0, 0.04, 1e-8]);
    // Step 2, first element: m = 0.9·0.05 + 0.1·0.25 = 0.07, v = 0.99·0.0025 + 0.01·0.0625 = 0.0031,
    // p = 0.899·0.999 - 0.1/0.19·0.07/(sqrt(0.0031)/sqrt(0.0199)) = 0.8047562. A scale of 0.5 halves the gradient.
    runKernel('AdamW', { param, m, v, grad, gradScale: tf.scalar(0.5) }, { ...attrs, step: 2 });
    expect(m.dataSync()[0]).toBeCloseTo(0.07, 7);
    expect(v.dataSync()[0]).toBeCloseTo(0.0031, 7);
    expect(param.dataSync()[0]).toBeCloseTo(0.8047562, 6);
    expect(param.dataSync()[2]).toBeCloseTo(0.4995 * 0.999, 6);
  });

  it('reaches every element of a large tensor and none beyond it', async () => {
    runtime = await openForTest(2);
    const size = 50001;
    const [param, m, v] = [tf.ones([size]), tf.zeros([size]), tf.zeros([size])];
    const { heap } = runtime;
    const beyond = [param, m, v].map((tensor) => heap.f32(heap.pointer(tensor) + 4 * size, 1));
    const values = beyond.map((view) => view[0]);
    runKernel('AdamW', { param, m, v, grad: tf.ones([size]), gradScale: tf.scalar(1) }, attrs);
    expect(beyond.map((view) => view[0])).toEqual(values);
    expect(param.dataSync().every((value) => Math.abs(value - 0.899) < 1e-6)).toBe(true);
  });

  it('rejects tensors of different sizes', async () => {
    runtime = await openForTest(1);
    const [param, m, v] = [tf.ones([4]), tf.zeros([4]), tf.zeros([4])];
    expect(() => runKernel('AdamW', { param, m, v, grad: tf.ones([3]), gradScale: tf.scalar(1) }, attrs)).toThrow(
      /of one size/,
    );
  });
});

describe('AddInPlace', () => {
  it('adds the scaled tensor to the target', async () => {
    runtime = await openForTest(2);
    const target = tf.fill([40003], 2);
    runKernel('AddInPlace', { target, x: tf.fill([40003], 3) }, { scale: -0.5 });
    expect(target.dataSync().every((value) => value === 0.5)).toBe(true);
  });
});

describe('SumSquares', () => {
  it('sums in double precision', async () => {
    runtime = await openForTest(2);
    expect(runKernel('SumSquares', { x: tf.tensor1d([3, -4, 12]) }).dataSync()[0]).toBe(169);
    // 4096² + 99,999 ones: in single precision the ones would be lost from some point on.
    const x = tf.ones([100000]);
    runtime.heap.f32(runtime.heap.pointer(x), 1)[0] = 4096;
    expect(runKernel('SumSquares', { x }).dataSync()[0]).toBe(Math.fround(4096 * 4096 + 99999));
  });

  it('gives the same bits on 1, 2 and 3 threads, and leaks nothing', async () => {
    const sums: unknown[] = [];
    for (const threads of [1, 2, 3]) {
      runtime = await openForTest(threads);
      const x = tf.tensor1d(noise(70001, 5));
      const before = runtime.heap.bytesInUse();
      const sum = runKernel('SumSquares', { x });
      sums.push(sum.dataSync()[0]);
      sum.dispose();
      expect(runtime.heap.bytesInUse()).toBe(before);
      if (threads < 3) await closeWasmBackend(runtime);
    }
    expect(sums[1]).toBe(sums[0]);
    expect(sums[2]).toBe(sums[0]);
  });
});

function expectClose(tensor: tf.Tensor, expected: readonly number[]): void {
  const values = tensor.dataSync();
  expected.forEach((value, i) => {
    expect(values[i]).toBeCloseTo(value, 6);
  });
}
