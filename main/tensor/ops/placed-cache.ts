/** Caches that a backend's DecodeAttention writes into: each row has a slot, prompts stay where they were packed. */
import * as tf from '@tensorflow/tfjs-core';
import { runOp } from '../portable.ts';
import type { AttentionShape } from './attention.ts';
import { allOrNone, type KvCache, type PrefixKv, type RowPrefix } from './kv-cache.ts';
import { openRowPlaces } from './row-places.ts';

// B rows in flight, K key/value heads, d head_dim, S slots, T steps, R rows that are read.

/** Keys and values of a layer as a backend's kernel reads them. */
interface LayerKv {
  readonly k: tf.Tensor;
  readonly v: tf.Tensor;
}

/** Prompts where a backend's DecodeAttention reads them. */
interface PlacedPrefix {
  readonly layers: readonly LayerKv[];
  readonly rows: readonly RowPrefix[];
}

/** A packed prompt starts at a multiple of this: whole panels for every kernel. */
const PACKED_TOKENS = 64;

/** Packs prompts once instead of in each step, where the backend's kernel wants that, and frees what it was given. */
function packPrefix(
  prefix: readonly PrefixKv[],
  rows: readonly RowPrefix[],
  shape: AttentionShape,
  made: tf.Tensor[],
): PlacedPrefix {
  if (tf.getKernel('PackPrefix', tf.getBackend()) === undefined) return { layers: prefix, rows };
  const { table, places, placed } = placeRows(rows);
  const prompts = tf.tensor2d(table, [table.length / 3, 3], 'int32');
  made.push(prompts);
  const layers = prefix.map(({ k, v }) => {
    const packed = runOp<[tf.Tensor, tf.Tensor]>('PackPrefix', { k, v, prompts }, { ...shape, places });
    made.push(...packed);
    tf.dispose([k, v]);
    return { k: tf.keep(packed[0]), v: tf.keep(packed[1]) };
  });
  prompts.dispose();
  return { layers, rows: placed };
}

/** Where each row's prompt is packed, and the table of what PackPrefix moves: start, length, packed start. */
function placeRows(rows: readonly RowPrefix[]) {
  const known = new Map<string, number>();
  const table: number[] = [];
  let places = 0;
  const placed = rows.map(({ start, length }) => {
    const name = `${start} ${length}`;
    const at = known.get(name) ?? places;
    if (!known.has(name)) {
      known.set(name, at);
      table.push(start, length, at);
      places += Math.ceil(length / PACKED_TOKENS) * PACKED_TOKENS;
    }
    return { start: at, length };
  });
  return { table, places, placed };
}

/** Caches of all layers that a backend's kernel writes into: nothing is copied, dropped rows leave their slot unused. */
export interface PlacedCache {
  readonly layers: readonly { readonly prefix: LayerKv; readonly own: LayerKv }[];
  /** Of each slot, where its prompt is. */
  readonly prompts: readonly RowPrefix[];
  /** What these slots have written in so many steps, as `KvCache.written`. */
  written(slots: readonly number[], steps: number): PrefixKv[];
  dispose(): void;
}

/**
 * Packs the prompts, which it takes over, and makes room for `capacity` tokens a row. `room` makes a tensor for them,
 * whose numbers are written before they are read.
 */
export function placeCache(
  given: readonly PrefixKv[],
  rowsGiven: readonly RowPrefix[],
  capacity: number,
  shape: AttentionShape,
  room: (shape: [number, number, number, number]) => tf.Tensor = tf.zeros,
): PlacedCache {
  // A head's numbers lie next to each other, as each step reads them all.
  const ownShape: [number, number, number, number] = [rowsGiven.length, shape.numKvHeads, capacity, shape.headDim];
  return allOrNone((made) => {
    const own = (): tf.Tensor => {
      const tensor = tf.keep(room(ownShape));
      made.push(tensor);
      return tensor;
    };
    const { layers: packed, rows: prompts } = packPrefix(given, rowsGiven, shape, made);
    const layers = packed.map((prefix) => ({ prefix, own: { k: own(), v: own() } }));
    const all = layers.flatMap(({ prefix, own }) => [prefix.k, prefix.v, own.k, own.v]);
    const written = (slots: readonly number[], steps: number): PrefixKv[] =>
      allOrNone((read) =>
        layers.map(({ own: { k, v } }) => {
          const [keys, values] = [k, v].map((x) => {
            const rows = tf.keep(tf.tidy(() => writtenRows(x as tf.Tensor4D, slots, steps)));
            read.push(rows);
            return rows;
          });
          return { k: keys as tf.Tensor2D, v: values as tf.Tensor2D };
        }),
      );
    return { layers, prompts, written, dispose: () => tf.dispose(all) };
  });
}

/** own [S, K, T, d] → [R*steps, K*d] */
function writtenRows(own: tf.Tensor4D, slots: readonly number[], steps: number): tf.Tensor2D {
  const [, heads, , headDim] = own.shape;
  const [only, more] = slots;
  const isOne = only !== undefined && more === undefined;
  const used = tf.slice(own, [isOne ? only : 0, 0, 0, 0], [isOne ? 1 : -1, -1, steps, -1]);
  const rows = tf.transpose(isOne ? used : tf.gather(used, tf.tensor1d([...slots], 'int32')), [0, 2, 1, 3]);
  return tf.reshape(rows, [slots.length * steps, heads * headDim]);
}

export function openInPlace(
  given: readonly PrefixKv[],
  rowsGiven: readonly RowPrefix[],
  capacity: number,
  shape: AttentionShape,
): KvCache {
  const { layers, prompts, written, dispose } = placeCache(given, rowsGiven, capacity, shape);
  const places = openRowPlaces(prompts);
  const tables = () => ({
    rows: tf.keep(tf.tensor2d(slotTable(places.slots, prompts), [places.slots.length, 3], 'int32')),
    positions: tf.keep(tf.tensor1d(places.positions(), 'int32')),
  });
  let step = tables();
  const changed = (): void => {
    tf.dispose(step);
    step = tables();
  };
  return {
    attend: (layer, q, k, v) => {
      const cache = layers[layer];
      if (cache === undefined) throw new Error(`The cache has no layer ${layer}`);
      const { prefix, own } = cache;
      const inputs = { q, k, v, prefixK: prefix.k, prefixV: prefix.v, ownK: own.k, ownV: own.v, ...step };
      return runOp<tf.Tensor2D>('DecodeAttention', inputs, { ...shape });
    },
    advance: () => {
      places.advance();
      changed();
    },
    skip: (count) => {
      places.advance(count);
      changed();
    },
    keep: (indices) => {
      places.keep(indices);
      changed();
    },
    choose: (tokens) => {
      places.choose(tokens);
      changed();
    },
    written: (indices) =>
      written(
        indices.map((row) => places.slots[row] ?? 0),
        places.writtenOf(indices[0] ?? 0),
      ),
    dispose: () => {
      dispose();
      tf.dispose(step);
    },
  };
}

/** Of each row in flight: its slot, and where its prompt starts and how long it is. */
export function slotTable(slots: readonly number[], prompts: readonly RowPrefix[]): number[] {
  return slots.flatMap((slot) => [slot, prompts[slot]?.start ?? 0, prompts[slot]?.length ?? 0]);
}
