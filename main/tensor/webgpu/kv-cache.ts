/** The keys and values of a generation in flight: one buffer a layer for the prompts, one for what the rows write. */
import * as tf from '@tensorflow/tfjs-core';
import type { AttentionShape } from '../ops/attention.ts';
import type { KvCache, PrefixKv, RowPrefix } from '../ops/kv-cache.ts';
import type { WebGpuBackend } from './backend.ts';
import { type DecodeAttention, decodeAttention, stretchNumbers } from './kernels/decode-attention.ts';
import { type KvFormat, kvBytes, packKv, unpackKv } from './kernels/kv-pack.ts';
import type { GpuBuffer } from './pool.ts';

/** The caches of all layers, and which rows are still active. */
export interface KvStore {
  /** What attention in a layer reads and writes besides queries, keys and values. */
  layer(index: number): Omit<DecodeAttention, 'qkv' | 'out'>;
  readonly rows: number;
  advance(count?: number): void;
  keep(rows: readonly number[]): void;
  /** As `KvCache.written`. */
  written(rows: readonly number[]): PrefixKv[];
  dispose(): void;
}

/** 16 bits for a model whose weights have no more: of this model, whatever else the process has loaded. */
export function cacheFormat(backend: WebGpuBackend, weights: readonly tf.Tensor[]): KvFormat {
  return weights.some((weight) => backend.format(weight) !== 'f32') ? 'f16' : 'f32';
}

/**
 * Takes the prompts' keys and values over. What it took so far is given back when memory runs out. Attention that `joins`
 * its stretches itself needs no room for them here.
 */
export function openKvStore(
  backend: WebGpuBackend,
  prefix: readonly PrefixKv[],
  prompts: readonly RowPrefix[],
  capacity: number,
  shape: AttentionShape,
  format: KvFormat,
  joins = false,
): KvStore {
  const { gpu } = backend;
  const width = shape.numKvHeads * shape.headDim;
  const prefixTokens = prefix[0]?.k.shape[0] ?? 0;
  const size = prefixTokens * width;
  const taken: GpuBuffer[] = [];
  const take = (numbers: number, bytes = kvBytes(format)): GpuBuffer => {
    const buffer = gpu.take(Math.max(16, numbers * bytes));
    taken.push(buffer);
    return buffer;
  };
  const giveBack = (): void => {
    for (const buffer of taken) gpu.give(buffer);
  };
  const open = ({ k, v }: PrefixKv) => {
    const layer = { prefix: take(2 * size), own: take(2 * prompts.length * capacity * width) };
    packKv(backend, backend.buffer(k), layer.prefix, 0, size, format);
    packKv(backend, backend.buffer(v), layer.prefix, size, size, format);
    // Commands run in order, so the next layer may use their buffers: at most one layer is there twice.
    tf.dispose([k, v]);
    return layer;
  };
  const longest = Math.max(0, ...prompts.map(({ length }) => length));
  const stretched = joins ? 0 : stretchNumbers(backend, shape, prompts.length, longest + capacity);
  let layers: readonly ReturnType<typeof open>[];
  let parts: GpuBuffer | null;
  try {
    layers = prefix.map(open);
    parts = stretched > 0 ? take(stretched, 4) : null;
  } catch (error) {
    giveBack();
    throw error;
  }
  let slots = prompts.map((_, slot) => slot);
  let step = 0;
  const table = () =>
    backend.integers(
      Int32Array.from(slots.flatMap((slot) => [slot, prompts[slot]?.start ?? 0, prompts[slot]?.length ?? 0])),
    );
  let rows = table();
  /** Half of a layer's own part, from number `half` on: of these slots what they have written. */
  const readBack = (own: GpuBuffer, half: number, which: readonly number[]): tf.Tensor2D => {
    const info = backend.output([which.length * step, width]);
    const out = backend.buffer(info);
    which.forEach((slot, i) => {
      unpackKv(backend, own, half + slot * capacity * width, out, i * step * width, step * width, format);
    });
    return tf.engine().makeTensorFromTensorInfo(info) as tf.Tensor2D;
  };
  return {
    written: (indices) => {
      const which = indices.map((row) => slots[row] ?? 0);
      const read: PrefixKv[] = [];
      try {
        for (const { own } of layers) {
          const k = readBack(own, 0, which);
          read.push({ k, v: k });
          read[read.length - 1] = { k, v: readBack(own, prompts.length * capacity * width, which) };
        }
        return read;
      } catch (error) {
        tf.dispose(read.map(({ k, v }) => [k, v]));
        throw error;
      }
    },
    layer: (index) => {
      const layer = layers[index];
      if (layer === undefined) throw new Error(`The cache has no layer ${index}`);
      const sizes = { batch: slots.length, step, longest, capacity, slots: prompts.length, prefixTokens, format };
      return { ...layer, parts, rows: backend.buffer(rows), ...sizes };
    },
    get rows() {
      return slots.length;
    },
    advance: (count = 1) => {
      step += count;
    },
    keep: (indices) => {
      slots = indices.map((row) => slots[row] ?? 0);
      backend.release(rows);
      rows = table();
    },
    dispose: () => {
      giveBack();
      backend.release(rows);
    },
  };
}

/** The cache of a model that is decoded op by op. */
export function openGpuKvCache(
  backend: WebGpuBackend,
  prefix: readonly PrefixKv[],
  prompts: readonly RowPrefix[],
  capacity: number,
  shape: AttentionShape,
  format: KvFormat,
): KvCache {
  const store = openKvStore(backend, prefix, prompts, capacity, shape, format);
  return {
    attend: (index, q, k, v) => {
      const layer = store.layer(index);
      const out = backend.allOrNone(() => {
        const info = backend.output(q.shape);
        const [queries, keys, values, result] = [q, k, v, info].map((tensor) => backend.buffer(tensor)) as [
          GpuBuffer,
          GpuBuffer,
          GpuBuffer,
          GpuBuffer,
        ];
        decodeAttention(backend, shape, { ...layer, qkv: { q: queries, k: keys, v: values }, out: result });
        return info;
      });
      return tf.engine().makeTensorFromTensorInfo(out) as tf.Tensor2D;
    },
    advance: () => store.advance(),
    skip: store.advance,
    keep: store.keep,
    written: store.written,
    dispose: store.dispose,
  };
}
