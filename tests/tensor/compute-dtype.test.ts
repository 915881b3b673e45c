import * as tf from '@tensorflow/tfjs-core';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import '../../main/tensor/gradients.ts';
import { registerBfloat16, roundsProducts, setComputeDtype, whyNoBfloat16 } from '../../main/tensor/compute-dtype.ts';
import { weightProduct } from '../../main/tensor/ops/weight-product.ts';
import { closeWasmBackend } from '../../main/tensor/wasm/boot.ts';
import { openForTest } from './wasm/open.ts';

const runtime = await openForTest(1);
const asFound = whyNoBfloat16();
afterAll(() => {
  registerBfloat16('wasm', asFound);
  return closeWasmBackend(runtime);
});
afterEach(() => setComputeDtype('float32'));

describe('setComputeDtype', () => {
  it('refuses bfloat16 where the backend has none, with the remedy, and leaves float32', () => {
    expect(() => setComputeDtype('bfloat16')).toThrow(
      expect.objectContaining({
        code: 'NO_BFLOAT16',
        message: expect.stringContaining('only the native and webgpu backends have it'),
        remedy: expect.stringContaining('backend to native on'),
      }),
    );
    expect(roundsProducts()).toBe(false);
  });

  it("says why in the backend's own words", () => {
    registerBfloat16('wasm', { why: 'the addon is older', remedy: 'Set it up again.' });
    expect(whyNoBfloat16()).toMatchObject({ why: 'the addon is older' });
    expect(() => setComputeDtype('bfloat16')).toThrow("can't be had here: the addon is older. Nothing was started.");
    registerBfloat16('wasm', null);
    setComputeDtype('bfloat16');
    expect(roundsProducts()).toBe(true);
  });

  it('refuses weights in float32 where only those of fewer bits are rounded', () => {
    registerBfloat16('wasm', null, { why: 'these are float32', remedy: 'Train an adapter.' });
    setComputeDtype('bfloat16');
    expect(() => setComputeDtype('bfloat16', true)).toThrow('these are float32');
  });
});

describe('weightProduct', () => {
  it('has the numbers and gradients of x·Wᵀ', () => {
    const x = tf.tensor2d([1, 2, 3, 4, 5, 6], [2, 3]);
    const weight = tf.tensor2d([1, 0, 2, -1, 3, 1, 0.5, 0, -2, 4, 1, 1], [4, 3]);
    const dy = tf.tensor2d([1, 2, 3, 4, 5, 6, 7, 8], [2, 4]);
    const of = (product: (x: tf.Tensor2D, weight: tf.Tensor2D) => tf.Tensor2D): number[][] => {
      const { value, grads } = tf.valueAndGrads((a, b) => product(a as tf.Tensor2D, b as tf.Tensor2D))([x, weight], dy);
      return [value, ...grads].map((tensor) => [...tensor.dataSync()]);
    };
    expect(of(weightProduct)).toEqual(of((a, b) => tf.matMul(a, b, false, true)));
  });
});
