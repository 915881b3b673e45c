import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { floatToHalf } from '../../main/model/safetensors.ts';
import type { NativeBackend } from '../../main/tensor/native/binding.ts';
import { selectiveLogSoftmax } from '../../main/tensor/ops/log-softmax.ts';
import { loraLinear } from '../../main/tensor/ops/lora-linear.ts';
import { gatherRows } from '../../main/tensor/ops/rows.ts';
import { makeWeight, type WeightSource } from '../../main/tensor/weights.ts';
import { openTestBackends } from '../backends.ts';

const backends = (await openTestBackends()).filter(({ name }) => name === 'native' || name === 'wasm');

/** Numbers that bfloat16 and float16 hold exactly, again and again. */
const PERIOD = 127;
const exact = (i: number): number => ((i * 37) % PERIOD) / 64 - 1;

/** The numbers as a file has them. */
function stored(type: WeightSource['type'], values: Float32Array<ArrayBuffer>): Float32Array | Uint16Array {
  if (type === 'F32') return values;
  if (type === 'F16') return Uint16Array.from(values, floatToHalf);
  return Uint16Array.from(new Uint32Array(values.buffer), (word) => word >>> 16);
}

/** Fills `all` with the block, again and again. */
function repeat<T extends Float32Array | Uint16Array>(block: T, all: T): T {
  for (let at = 0; at < all.length; at += PERIOD) all.set(block.subarray(0, all.length - at), at);
  return all;
}

function sourceOf(type: WeightSource['type'], count: number): WeightSource {
  const block = Float32Array.from({ length: PERIOD }, (_, i) => exact(i));
  const values = repeat(block, new Float32Array(count));
  const width = type === 'F32' ? 4 : 2;
  const all = width === 4 ? new Float32Array(count) : new Uint16Array(count);
  const bytes = Buffer.from(repeat(stored(type, block), all).buffer);
  return {
    type,
    read: () => values,
    readPart: (first, n) => values.slice(first, first + n),
    readRaw: (first, n) => Buffer.from(bytes.subarray(first * width, (first + n) * width)) as Buffer<ArrayBuffer>,
  };
}

const waves = (rows: number, width: number): tf.Tensor2D =>
  tf.tensor2d(
    Array.from({ length: rows * width }, (_, i) => Math.sin(i)),
    [rows, width],
  );

describe.each(backends)('weights on $name', (backend) => {
  beforeAll(backend.use);
  const handles = (): number =>
    backend.name === 'native' ? (tf.backend() as NativeBackend).binding.getNumOfTensors() : tf.memory().numTensors;

  // 5000 rows of 1001 take two pieces, the last of them with an odd count.
  it.each(['F32', 'F16', 'BF16'] as const)('come in pieces from %s, exactly and with nothing left over', (type) => {
    const before = handles();
    const weight = makeWeight(sourceOf(type, 5001 * 1001), [5001, 1001], 'float32');
    const values = weight.dataSync();
    expect(values.length).toBe(5001 * 1001);
    expect([0, 4_190_000, 4_200_000, 5001 * 1001 - 1].every((i) => values[i] === Math.fround(exact(i)))).toBe(true);
    weight.dispose();
    expect(handles()).toBe(before);
  });

  it.each(['F32', 'F16', 'BF16'] as const)(
    'kept in 16 bits from %s give what float32 gives in every op that uses them',
    (type) => {
      const before = handles();
      tf.tidy(() => {
        const [half, full] = (['bfloat16', 'float32'] as const).map((precision) =>
          makeWeight(sourceOf(type, 40 * 9), [40, 9], precision),
        ) as [tf.Tensor2D, tf.Tensor2D];
        const x = waves(3, 9);
        const [a, b] = [waves(2, 9), waves(40, 2)];
        const ids = tf.tensor1d([5, -1, 39], 'int32');
        const targets = tf.tensor1d([1, 0, 39], 'int32');
        const run = (weight: tf.Tensor2D): number[] => {
          const logp = (input: tf.Tensor): tf.Tensor =>
            selectiveLogSoftmax(input as tf.Tensor2D, weight, targets, { temperature: 1, trainWeight: false }).logps;
          const product = (input: tf.Tensor): tf.Tensor => tf.matMul(input as tf.Tensor2D, weight, false, true);
          const adapted = (input: tf.Tensor): tf.Tensor => loraLinear(input as tf.Tensor2D, weight, a, b, 0.5);
          const functions = [logp, product, adapted];
          return [gatherRows(weight, ids), ...functions.flatMap((f) => [f(x), tf.grad(f)(x)])].flatMap((tensor) => [
            ...tensor.dataSync(),
          ]);
        };
        expect(run(half)).toEqual(run(full));
      });
      expect(handles()).toBe(before);
    },
  );

  it('kept in 16 bits are refused by ops that know float32 only', () => {
    tf.tidy(() => {
      const weight = makeWeight(sourceOf('F32', 40 * 9), [40, 9], 'bfloat16');
      expect(() => tf.neg(weight).dataSync()).toThrow();
    });
  });
});
