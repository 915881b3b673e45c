/** Keys and values of a generation in layers whose heads differ: a cache of its own for each kind. */
import type * as tf from '@tensorflow/tfjs-core';
import type { AttentionShape } from './attention.ts';
import { openKvCache } from './decode-attention.ts';
import type { KvCache, PrefixKv, RowPrefix, SlidingLayers } from './kv-cache.ts';
import type { RowToken } from './row-places.ts';

interface Kind {
  readonly shape: AttentionShape;
  readonly layers: readonly number[];
  readonly cache: KvCache;
}

/** As `openKvCache`; `shapes`: of each layer. */
export function openKvCaches(
  prefix: readonly PrefixKv[],
  rows: readonly RowPrefix[],
  capacity: number,
  shapes: readonly AttentionShape[],
  sliding: SlidingLayers | null,
  weights: readonly tf.Tensor[],
): KvCache {
  const byShape = Map.groupBy(shapes.keys(), (layer) => JSON.stringify(shapes[layer]));
  const kinds: Kind[] = [];
  const dispose = (): void => {
    for (const { cache } of kinds) cache.dispose();
  };
  try {
    for (const layers of byShape.values()) {
      const shape = shapes[layers[0] ?? 0] as AttentionShape;
      const slides = layers.flatMap((layer, place) => (sliding?.layers.includes(layer) ? [place] : []));
      const own = sliding === null || slides.length === 0 ? null : { ...sliding, layers: slides };
      const kept = layers.map((layer) => prefix[layer] as PrefixKv);
      kinds.push({ shape, layers, cache: openKvCache(kept, rows, capacity, shape, own, weights) });
    }
  } catch (error) {
    dispose();
    throw error;
  }
  const [only, other] = kinds;
  if (only !== undefined && other === undefined) return only.cache;
  const all = (work: (cache: KvCache) => void): void => {
    for (const { cache } of kinds) work(cache);
  };
  const isFree = kinds.every(({ cache }) => cache.choose !== undefined);
  const isReadable = kinds.every(({ cache }) => cache.written !== undefined);
  const written = (which: readonly number[]): PrefixKv[] => {
    const read = kinds.flatMap(({ layers, cache }) => {
      const own = cache.written?.(which) ?? [];
      return layers.map((layer, place) => [layer, own[place] as PrefixKv] as const);
    });
    return read.sort(([a], [b]) => a - b).map(([, kv]) => kv);
  };
  return {
    attend: (layer, ...given) => {
      const kind = kinds.find(({ layers }) => layers.includes(layer));
      if (kind === undefined) throw new Error(`The cache has no layer ${layer}`);
      return kind.cache.attend(kind.layers.indexOf(layer), ...given);
    },
    advance: () => all((cache) => cache.advance()),
    skip: (count) => all((cache) => cache.skip(count)),
    keep: (kept) => all((cache) => cache.keep(kept)),
    ...(isFree && { choose: (tokens: readonly RowToken[]) => all((cache) => cache.choose?.(tokens)) }),
    ...(isReadable && { written }),
    dispose,
  };
}
