/** Opens the cache that the current backend's kernels attend with. */
import * as tf from '@tensorflow/tfjs-core';
import type { AttentionShape } from './attention.ts';
import { openDense } from './dense-cache.ts';
import { kernelHeadDim, narrowHeads, widenHeads } from './head-width.ts';
import { allOrNone, type KvCache, type PrefixKv, type RowPrefix, type SlidingLayers, takeOver } from './kv-cache.ts';
import { openInPlace } from './placed-cache.ts';

/** A backend's own way to open a cache. */
export type OpenKvCache = (
  prefix: readonly PrefixKv[],
  rows: readonly RowPrefix[],
  shape: AttentionShape,
  capacity: number,
  weights: readonly tf.Tensor[],
) => KvCache;

const ownCaches = new Map<string, OpenKvCache>();

/** Registers a backend's own cache. */
export function registerKvCache(backendName: string, open: OpenKvCache): void {
  ownCaches.set(backendName, open);
}

/**
 * Opens a cache over the prompts' keys and values, which it then owns, for at most `capacity` new tokens a row. A
 * backend may keep it in fewer bits where the model's `weights` have fewer.
 */
export function openKvCache(
  prefix: readonly PrefixKv[],
  rows: readonly RowPrefix[],
  capacity: number,
  shape: AttentionShape,
  sliding: SlidingLayers | null = null,
  weights: readonly tf.Tensor[] = [],
): KvCache {
  // No backend's kernels know windows; texts that stay within them need none.
  const longest = Math.max(...rows.map(({ length }) => length)) + capacity;
  if (sliding !== null && longest > sliding.window) return openDense(prefix, rows, shape, sliding);
  const width = kernelHeadDim(shape.headDim);
  if (width !== shape.headDim) return openWidened(prefix, rows, capacity, shape, width, weights);
  const own = ownCaches.get(tf.getBackend());
  if (own !== undefined) return own(prefix, rows, shape, capacity, weights);
  return readsInPlace() ? openInPlace(prefix, rows, capacity, shape) : openDense(prefix, rows, shape, null);
}

/** Whether the current backend's kernel attends to rows that have written different numbers of tokens. */
export function readsInPlace(): boolean {
  const backend = tf.getBackend();
  return !ownCaches.has(backend) && tf.getKernel('DecodeAttention', backend) != null;
}

/** A cache with heads padded to the width that the backend's kernel supports. */
function openWidened(
  prefix: readonly PrefixKv[],
  rows: readonly RowPrefix[],
  capacity: number,
  shape: AttentionShape,
  width: number,
  weights: readonly tf.Tensor[],
): KvCache {
  const { headDim } = shape;
  const wide = (x: tf.Tensor2D): tf.Tensor2D => widenHeads(x, headDim, width);
  const cache = allOrNone((made) => {
    const kept = takeOver(prefix, made, wide);
    return openKvCache(kept, rows, capacity, { ...shape, headDim: width }, null, weights);
  });
  return {
    ...cache,
    attend: (layer, q, k, v, again) =>
      narrowHeads(cache.attend(layer, wide(q), wide(k), wide(v), again), width, headDim),
    ...(cache.written && {
      written: (rows: readonly number[]) => takeNarrow(cache.written?.(rows) ?? [], width, headDim),
    }),
  };
}

function takeNarrow(wide: readonly PrefixKv[], width: number, headDim: number): PrefixKv[] {
  return allOrNone((made) => takeOver(wide, made, (x) => narrowHeads(x, width, headDim)));
}
