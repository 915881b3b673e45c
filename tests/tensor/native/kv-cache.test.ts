/** The cache of TensorFlow's own ops where memory runs out: on the processor's TensorFlow, with ops that fail on demand. */
import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import type { NativeBackend, NativeBinding } from '../../../main/tensor/native/binding.ts';
import { openNativeKvCache } from '../../../main/tensor/native/kv-cache.ts';
import { openNativeBackend } from '../../../main/tensor/native/open.ts';
import { withOps } from '../../../main/tensor/native/ops.ts';
import type { KvCache, PrefixKv } from '../../../main/tensor/ops/decode-attention.ts';
import { nativeUnderTest } from '../../native-under-test.ts';
import { randomTensor } from '../ops/finite-differences.ts';

const SHAPE = { numHeads: 2, numKvHeads: 1, headDim: 4, scale: 0.5 };
const ROWS = [
  { start: 0, length: 3 },
  { start: 0, length: 3 },
];

/** A binding that knows what lives, and whose ops fail once `left` of them have run. */
function failing(binding: NativeBinding) {
  const live = new Set<number>();
  const ops = { left: Number.POSITIVE_INFINITY };
  const own: Partial<NativeBinding> = {
    createTensor: (...given) => {
      const id = binding.createTensor(...given);
      live.add(id);
      return id;
    },
    executeOp: (...given) => {
      if (ops.left-- <= 0) throw new Error('OOM when allocating tensor');
      const made = binding.executeOp(...given);
      for (const { id } of made) live.add(id);
      return made;
    },
    // The addon throws where the number is not of a living tensor.
    deleteTensor: (id) => {
      binding.deleteTensor(id);
      live.delete(id);
    },
  };
  // The addon's members are read-only, and its constants can't be enumerated.
  return { live, ops, binding: Object.create(binding, Object.getOwnPropertyDescriptors(own)) as NativeBinding };
}

describe.runIf(nativeUnderTest)('openNativeKvCache', async () => {
  const opened = nativeUnderTest === null ? null : await openNativeBackend(2, nativeUnderTest);
  if (opened !== null && !opened.ok) throw new Error(opened.problem.detail);
  const backend = opened?.backend as NativeBackend;

  const random = (rows: number, heads: number): tf.Tensor2D =>
    randomTensor<tf.Rank.R2>([rows, heads * SHAPE.headDim], 10 * rows + heads);

  /** Two layers' keys and values, in the backend's memory. */
  function prefix(): PrefixKv[] {
    const layers = [0, 1].map(() => ({ k: random(3, 1), v: random(3, 1) }));
    withOps(backend, (ops) => layers.forEach(({ k, v }) => void [ops.of(k), ops.of(v)]));
    return layers;
  }

  function open() {
    const { live, ops, binding } = failing(backend.binding);
    const own = { ...backend, binding, tensorMap: backend.tensorMap } as NativeBackend;
    return { live, ops, open: (given: PrefixKv[]): KvCache => openNativeKvCache(own, given, ROWS, SHAPE) };
  }

  it('frees what it made where the prompts have no room', () => {
    const { live, ops, open: openCache } = open();
    // Each of the four tensors takes four ops.
    for (let n = 0; n < 16; n++) {
      ops.left = n;
      const given = prefix();
      expect(() => openCache(given)).toThrow('OOM');
      expect(live.size).toBe(0);
      tf.dispose(given.map(({ k, v }) => [k, v]));
    }
    ops.left = Number.POSITIVE_INFINITY;
    openCache(prefix()).dispose();
    expect(live.size).toBe(0);
  });
});
