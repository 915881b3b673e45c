import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FLAT_TILE } from '../../../main/tensor/kernels/ids.ts';
import { closeWasmBackend } from '../../../main/tensor/wasm/boot.ts';
import type { WasmRuntime } from '../../../main/tensor/wasm/runtime.ts';
import { noise, openForTest } from './open.ts';

describe('Add', () => {
  let runtime: WasmRuntime;
  beforeAll(async () => {
    runtime = await openForTest(3);
  });
  afterAll(() => closeWasmBackend(runtime));

  const sum = (a: tf.TensorLike, b: tf.TensorLike, dtype: tf.NumericDataType = 'float32'): unknown =>
    tf.tidy(() => tf.add(tf.tensor(a, undefined, dtype), tf.tensor(b, undefined, dtype)).arraySync());

  it.each([0, 1, 3, 8, 13, FLAT_TILE, 3 * FLAT_TILE + 5])('adds %i floats in single precision', (size) => {
    const [a, b] = [noise(size, 1), noise(size, 2)];
    expect(sum(a, b)).toEqual(Array.from(a, (value, i) => Math.fround(value + (b[i] as number))));
  });

  it('adds a row to each of a matrix', () => {
    expect(
      sum(
        [
          [1, 2],
          [3, 4],
        ],
        [10, 20],
      ),
    ).toEqual([
      [11, 22],
      [13, 24],
    ]);
  });

  it('leaves other shapes and types to the stock kernel', () => {
    expect(sum([[1], [2]], [10, 20])).toEqual([
      [11, 21],
      [12, 22],
    ]);
    expect(sum([1, 2], 5)).toEqual([6, 7]);
    expect(sum([2 ** 30, 1], [5, -3], 'int32')).toEqual([2 ** 30 + 5, -2]);
  });

  it('carries infinities and NaN on', () => {
    expect(sum([Infinity, Infinity, Number.NaN], [1, -Infinity, 1])).toEqual([Infinity, Number.NaN, Number.NaN]);
  });
});
