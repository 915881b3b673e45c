/** What the tests of the fused kernels share: backends with 1, 2 and 3 threads, seeded data, comparison, leak checks. */
import * as tf from '@tensorflow/tfjs-core';
import { expect } from 'vitest';
import { type RandomStream, randomStream } from '../../../main/random.ts';
import { buildKernels } from '../../../main/tensor/kernels/build.ts';
import { closeWasmBackend, openWasmBackend } from '../../../main/tensor/wasm/boot.ts';
import type { WasmRuntime } from '../../../main/tensor/wasm/runtime.ts';

export type Floats = Float32Array;

/** Runs `use` on a fresh wasm backend with this many threads. */
export async function withThreads<T>(threads: number, use: (runtime: WasmRuntime) => T | Promise<T>): Promise<T> {
  const runtime = await openWasmBackend({ threads, kernelsFile: buildKernels() });
  try {
    return await use(runtime);
  } finally {
    await closeWasmBackend(runtime);
  }
}

/** Seeded floats of a standard normal distribution, times `scale`. */
export function normals(count: number, stream: RandomStream, scale = 1): Floats {
  return Float32Array.from({ length: count }, () => {
    const radius = Math.sqrt(-2 * Math.log(1 - stream.next()));
    return scale * radius * Math.cos(2 * Math.PI * stream.next());
  });
}

/** A stream of random numbers for one test. */
export function seeded(seed: number): RandomStream {
  return randomStream(seed);
}

/** An input of a kernel: values and their shape, int32 where the values are. */
export interface Operand {
  readonly values: Float32Array | Int32Array;
  readonly shape: readonly number[];
}

/** Runs a kernel on the current backend and returns copies of its outputs; leaves no tensor behind. */
export function runKernel(
  name: string,
  operands: Readonly<Record<string, Operand>>,
  attrs: Record<string, number | boolean> = {},
): Floats[] {
  const tensors = tf.tidy(() => {
    const inputs = Object.fromEntries(
      Object.entries(operands).map(([key, { values, shape }]) => [
        key,
        tf.tensor(values, [...shape], values instanceof Int32Array ? 'int32' : 'float32'),
      ]),
    );
    return [tf.engine().runKernel(name, inputs, attrs) as tf.Tensor | tf.Tensor[]].flat();
  });
  const outputs = tensors.map((tensor) => Float32Array.from(tensor.dataSync()));
  tf.dispose(tensors);
  return outputs;
}

/** Expects every value within `relative` of the expected one, measured against the largest expected value (or 0.01). */
export function expectClose(actual: Floats | undefined, expected: ArrayLike<number>, relative: number): void {
  expect(actual?.length).toBe(expected.length);
  let scale = 0.01;
  for (let i = 0; i < expected.length; i++) scale = Math.max(scale, Math.abs(expected[i] ?? 0));
  let worst = 0;
  for (let i = 0; i < expected.length; i++) {
    const error = Math.abs((actual?.[i] ?? Number.NaN) - (expected[i] ?? 0)) / scale;
    if (!(error <= worst)) worst = error;
  }
  expect(worst).toBeLessThan(relative);
}

/** Runs the same work with 1, 2 and 3 threads and expects the same bits. */
export async function expectSameBits(work: () => Floats[]): Promise<void> {
  const results: Floats[][] = [];
  for (const threads of [1, 2, 3]) {
    // Twice each: a race would not show every time.
    results.push(...(await withThreads(threads, () => [work(), work()])));
  }
  const bits = results.map((outputs) => outputs.map((output) => Buffer.from(output.buffer).toString('base64')));
  for (const each of bits) expect(each).toEqual(bits[0]);
}

/** Expects `work` to leave neither tensors nor bytes on the heap. */
export function expectNoLeak(runtime: WasmRuntime, work: () => void): void {
  work();
  const before = { tensors: tf.memory().numTensors, bytes: runtime.heap.bytesInUse() };
  for (let i = 0; i < 3; i++) work();
  expect({ tensors: tf.memory().numTensors, bytes: runtime.heap.bytesInUse() }).toEqual(before);
}
