import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeWasmBackend } from '../../../main/tensor/wasm/boot.ts';
import type { WasmRuntime } from '../../../main/tensor/wasm/runtime.ts';
import { noise, openForTest } from './open.ts';

let runtime: WasmRuntime;
beforeAll(async () => {
  runtime = await openForTest(2);
});
afterAll(() => closeWasmBackend(runtime));

/** a·b by the definition for operands [batch…, rows, columns] that broadcast. */
function naive(a: tf.Tensor, b: tf.Tensor, transposeA: boolean, transposeB: boolean): number[] {
  const [x, y] = [a.dataSync(), b.dataSync()];
  const [m, k] = transposeA ? a.shape.slice(-2).reverse() : a.shape.slice(-2);
  const n = (transposeB ? b.shape.at(-2) : b.shape.at(-1)) ?? 0;
  if (m === undefined || k === undefined) throw new Error('unreachable');
  const batch = tf.broadcast_util.assertAndGetBroadcastShape(a.shape.slice(0, -2), b.shape.slice(0, -2));
  const items = batch.reduce((product, size) => product * size, 1);
  const pick = (shape: number[], item: number) => {
    let offset = 0;
    let rest = item;
    let stride = 1;
    for (let d = 1; d <= batch.length; d++) {
      const own = shape.at(-2 - d) ?? 1;
      const size = batch.at(-d) ?? 1;
      if (own > 1) offset += (rest % size) * stride;
      stride *= own;
      rest = Math.floor(rest / size);
    }
    return offset;
  };
  const result: number[] = [];
  for (let item = 0; item < items; item++) {
    const [aBase, bBase] = [pick(a.shape, item) * m * k, pick(b.shape, item) * k * n];
    for (let i = 0; i < m; i++) {
      for (let j = 0; j < n; j++) {
        let sum = 0;
        for (let l = 0; l < k; l++) {
          const left = x[aBase + (transposeA ? l * m + i : i * k + l)] ?? Number.NaN;
          sum += left * (y[bBase + (transposeB ? j * k + l : l * n + j)] ?? Number.NaN);
        }
        result.push(sum);
      }
    }
  }
  return result;
}

function expectClose(actual: tf.Tensor, expected: number[]): void {
  const values = actual.dataSync();
  expect(values.length).toBe(expected.length);
  expected.forEach((value, i) => {
    expect(values[i]).toBeCloseTo(value, 4);
  });
}

describe('tf.matMul', () => {
  const cases = [
    { a: [5, 7], b: [7, 3] },
    { a: [4, 5, 7], b: [4, 7, 3] },
    { a: [1, 5, 7], b: [4, 7, 3] },
    { a: [4, 5, 7], b: [7, 3] },
    { a: [2, 3, 5, 7], b: [2, 3, 7, 3] },
    { a: [2, 1, 5, 7], b: [2, 3, 7, 3] },
    { a: [2, 3, 5, 7], b: [3, 7, 3] },
  ];
  for (const { a: aShape, b: bShape } of cases) {
    it(`multiplies [${aShape}] by [${bShape}] in all four transpositions`, () => {
      for (const transposeA of [false, true]) {
        for (const transposeB of [false, true]) {
          tf.tidy(() => {
            const a = tensor(transposeA ? swapped(aShape) : aShape, 1);
            const b = tensor(transposeB ? swapped(bShape) : bShape, 2);
            const out = tf.matMul(a, b, transposeA, transposeB);
            expectClose(out, naive(a, b, transposeA, transposeB));
          });
        }
      }
    });
  }

  it('sees a weight that was changed in place', () => {
    tf.tidy(() => {
      const [a, b] = [tensor([3, 4], 1), tensor([4, 5], 2)];
      tf.matMul(a, b);
      const { heap } = runtime;
      heap.f32(heap.pointer(b), 20).fill(1);
      expectClose(tf.matMul(a, b), naive(a, tf.ones([4, 5]), false, false));
    });
  });

  it('has gradients that match the definition', () => {
    tf.tidy(() => {
      const [a, b, dy] = [tensor([3, 5, 7], 1), tensor([3, 4, 7], 2), tensor([3, 5, 4], 3)];
      const [da, db] = tf.grads((x, y) => tf.matMul(x, y, false, true))([a, b], dy);
      if (!da || !db) throw new Error('unreachable');
      expectClose(da, naive(dy, b, false, false));
      expectClose(db, naive(dy, a, true, false));
    });
  });

  it('leaks neither tensors nor heap', () => {
    const before = { tensors: tf.memory().numTensors, bytes: runtime.heap.bytesInUse() };
    tf.tidy(() => {
      tf.grads((x, y) => tf.matMul(x, y))([tensor([30, 50], 1), tensor([50, 70], 2)]);
    });
    expect({ tensors: tf.memory().numTensors, bytes: runtime.heap.bytesInUse() }).toEqual(before);
  });

  it('rejects integers', () => {
    const a = tf.ones([2, 2], 'int32');
    expect(() => tf.matMul(a, a)).toThrow(/float32 operands/);
    a.dispose();
  });
});

describe('tf.fused.matMul', () => {
  it('adds the bias and applies the activation, on transposed operands too', () => {
    const before = { tensors: tf.memory().numTensors, bytes: runtime.heap.bytesInUse() };
    tf.tidy(() => {
      const [a, b, bias] = [tensor([5, 7], 1), tensor([3, 7], 2), tensor([3], 3)];
      const out = tf.fused.matMul({
        a: a as tf.Tensor2D,
        b: b as tf.Tensor2D,
        transposeB: true,
        bias,
        activation: 'relu',
      });
      const biases = bias.dataSync();
      expectClose(
        out,
        naive(a, b, false, true).map((value, i) => Math.max(0, value + (biases[i % 3] ?? Number.NaN))),
      );
    });
    expect({ tensors: tf.memory().numTensors, bytes: runtime.heap.bytesInUse() }).toEqual(before);
  });
});

function tensor(shape: readonly number[], seed: number): tf.Tensor {
  return tf.tensor(noise(tf.util.sizeFromShape([...shape]), seed), [...shape]);
}

function swapped(shape: readonly number[]): number[] {
  return [...shape.slice(0, -2), ...shape.slice(-2).reverse()];
}
