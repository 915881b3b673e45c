/** The cache of TensorFlow's own ops where memory runs out: on the processor's TensorFlow, with ops that fail on demand. */
import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import type { NativeBackend, NativeBinding } from '../../../main/tensor/native/binding.ts';
import { openNativeKvCache } from '../../../main/tensor/native/kv-cache.ts';
import { openNativeBackend } from '../../../main/tensor/native/open.ts';
import type { KvCache } from '../../../main/tensor/ops/kv-cache.ts';
import { nativeUnderTest } from '../../native-under-test.ts';
import { randomTensor } from '../ops/finite-differences.ts';

const SHAPE = { numHeads: 2, numKvHeads: 1, headDim: 4, scale: 0.5 };
const ROWS = [
  { start: 0, length: 3 },
  { start: 0, length: 3 },
];

/** A binding whose ops fail once `left` of them have run. */
function failing(binding: NativeBinding) {
  const ops = { left: Number.POSITIVE_INFINITY };
  const executeOp: NativeBinding['executeOp'] = (...op) => {
    if (ops.left-- <= 0) throw new Error('OOM when allocating tensor');
    return binding.executeOp(...op);
  };
  // The addon's members are read-only, and its constants can't be enumerated.
  return { ops, binding: Object.create(binding, { executeOp: { value: executeOp } }) as NativeBinding };
}

const random = (rows: number, heads: number): tf.Tensor2D =>
  randomTensor<tf.Rank.R2>([rows, heads * SHAPE.headDim], 10 * rows + heads);

/** One token of both rows in the first layer. */
function attend(cache: KvCache): void {
  const [q, k, v] = [random(2, 2), random(2, 1), random(2, 1)];
  try {
    cache.attend(0, q, k, v).dispose();
  } finally {
    tf.dispose([q, k, v]);
  }
}

describe.runIf(nativeUnderTest)('openNativeKvCache', async () => {
  const opened = nativeUnderTest === null ? null : await openNativeBackend(2, nativeUnderTest);
  if (opened !== null && !opened.ok) throw new Error(opened.problem.detail);
  const backend = opened?.backend as NativeBackend;

  /**
   * Opens a cache of two layers, changes it with `before`, then runs `work` with no op, with one, and so on, until it
   * succeeds; gives the tries. Whether it failed or not, the cache owns all that is left.
   */
  function triesUntilDone(before: (cache: KvCache) => void, work: (cache: KvCache) => void): number {
    const held = backend.binding.getNumOfTensors();
    for (let tries = 1; ; tries++) {
      const { ops, binding } = failing(backend.binding);
      const own = { ...backend, binding, tensorMap: backend.tensorMap } as NativeBackend;
      const prefix = [0, 1].map(() => ({ k: random(3, 1), v: random(3, 1) }));
      const cache = openNativeKvCache(own, prefix, ROWS, SHAPE);
      before(cache);
      ops.left = tries - 1;
      let failed = false;
      try {
        work(cache);
      } catch (error) {
        expect(error).toMatchObject({ message: expect.stringContaining('OOM') });
        failed = true;
      }
      ops.left = Number.POSITIVE_INFINITY;
      cache.dispose();
      expect(backend.binding.getNumOfTensors()).toBe(held);
      if (!failed) return tries;
    }
  }

  it('frees what it made where the prompts have no room', () => {
    const held = backend.binding.getNumOfTensors();
    // Each of the four tensors takes four ops.
    for (let left = 0; left < 16; left++) {
      const { ops, binding } = failing(backend.binding);
      ops.left = left;
      const own = { ...backend, binding, tensorMap: backend.tensorMap } as NativeBackend;
      const prefix = [0, 1].map(() => ({ k: random(3, 1), v: random(3, 1) }));
      expect(() => openNativeKvCache(own, prefix, ROWS, SHAPE)).toThrow('OOM');
      tf.dispose(prefix.map(({ k, v }) => [k, v]));
      expect(backend.binding.getNumOfTensors()).toBe(held);
    }
  });

  it.each([
    ['a token', 1],
    ['the token that settles the recent ones', 32],
  ])('still owns all that it holds where %s has no room', (_, tokens) => {
    const before = (cache: KvCache): void => {
      cache.skip(2);
      for (let t = 0; t < tokens; t++) attend(cache);
    };
    expect(triesUntilDone(before, attend)).toBeGreaterThan(6);
  });

  it.each([
    ['what is left of its rows', (cache: KvCache) => cache.keep([1]), 12],
    ['skipped tokens', (cache: KvCache) => cache.skip(3), 4],
  ])('still owns all that it holds where %s has no room', (_, change, ops) => {
    const before = (cache: KvCache): void => {
      cache.skip(2);
      attend(cache);
    };
    expect(triesUntilDone(before, change)).toBeGreaterThan(ops);
  });
});
