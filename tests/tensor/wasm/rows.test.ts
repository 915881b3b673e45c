import * as tf from '@tensorflow/tfjs-core';
import { afterEach, describe, expect, it } from 'vitest';
import { closeWasmBackend } from '../../../main/tensor/wasm/boot.ts';
import type { WasmRuntime } from '../../../main/tensor/wasm/runtime.ts';
import { noise, openForTest } from './open.ts';

let runtime: WasmRuntime;
afterEach(() => closeWasmBackend(runtime));

function runKernel(name: string, inputs: Record<string, tf.Tensor>, attrs: tf.NamedAttrMap = {}): tf.Tensor {
  return tf.engine().runKernel(name, inputs, attrs) as tf.Tensor;
}

function indices(values: readonly number[]): tf.Tensor1D {
  return tf.tensor1d([...values], 'int32');
}

/** Indices that repeat, skip rows and hold some -1. */
function someIndices(count: number, rows: number): number[] {
  return Array.from({ length: count }, (_, n) => ((n * 7919) % (rows + 3)) - 1).map((row) => (row < rows ? row : -1));
}

describe('GatherRows', () => {
  it('picks rows, and zeros for -1', async () => {
    runtime = await openForTest(2);
    const x = tf.tensor2d([1, 2, 3, 4, 5, 6], [3, 2]);
    const out = runKernel('GatherRows', { x, indices: indices([2, -1, 0, 2]) });
    expect(out.shape).toEqual([4, 2]);
    expect([...out.dataSync()]).toEqual([5, 6, 0, 0, 1, 2, 5, 6]);
  });

  it('picks many rows on all threads', async () => {
    runtime = await openForTest(2);
    const [rows, width] = [301, 65];
    const values = noise(rows * width, 1);
    const picked = someIndices(1000, rows);
    const out = runKernel('GatherRows', { x: tf.tensor2d(values, [rows, width]), indices: indices(picked) });
    const expected = picked.flatMap((row) =>
      row < 0 ? new Array<number>(width).fill(0) : [...values.subarray(row * width, (row + 1) * width)],
    );
    expect([...out.dataSync()]).toEqual(expected);
  });

  it('rejects an index outside the table', async () => {
    runtime = await openForTest(1);
    const x = tf.ones([3, 2]);
    expect(() => runKernel('GatherRows', { x, indices: indices([0, 3]) })).toThrow(/from -1 to 2, got 3/);
    expect(() => runKernel('GatherRows', { x, indices: indices([-2]) })).toThrow(/got -2/);
  });
});

describe('ScatterAddRows', () => {
  it('adds rows up, skips -1 and clears the rest', async () => {
    runtime = await openForTest(2);
    const dy = tf.tensor2d([1, 2, 3, 4, 5, 6, 7, 8], [4, 2]);
    const out = runKernel('ScatterAddRows', { dy, indices: indices([2, -1, 0, 2]) }, { rows: 4 });
    expect([...out.dataSync()]).toEqual([5, 6, 0, 0, 8, 10, 0, 0]);
  });

  it('gives the same bits on 1, 2 and 3 threads, equal to adding in order', async () => {
    const [count, rows, width] = [900, 37, 150];
    const values = noise(count * width, 2);
    const picked = someIndices(count, rows);
    const expected = new Float32Array(rows * width);
    picked.forEach((row, n) => {
      for (let j = 0; row >= 0 && j < width; j++) {
        const place = row * width + j;
        expected[place] = Math.fround((expected[place] ?? 0) + (values[n * width + j] ?? 0));
      }
    });
    for (const threads of [1, 2, 3]) {
      runtime = await openForTest(threads);
      const dy = tf.tensor2d(values, [count, width]);
      const out = runKernel('ScatterAddRows', { dy, indices: indices(picked) }, { rows });
      expect(out.dataSync()).toEqual(expected);
      if (threads < 3) await closeWasmBackend(runtime);
    }
  });
});

describe('tf.unsortedSegmentSum', () => {
  it('sums segments, and gives tf.gather its gradient', async () => {
    runtime = await openForTest(2);
    const x = tf.tensor2d([1, 2, 3, 4, 5, 6], [3, 2]);
    const sums = tf.unsortedSegmentSum(x, indices([1, 0, 1]), 2);
    expect([...sums.dataSync()]).toEqual([3, 4, 6, 8]);
    const gradient = tf.grad((table: tf.Tensor) => tf.gather(table, indices([1, 1, 2])))(x);
    expect([...gradient.dataSync()]).toEqual([0, 0, 2, 2, 1, 1]);
  });
});
