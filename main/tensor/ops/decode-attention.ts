import * as tf from '@tensorflow/tfjs-core';
import { runOp } from '../portable.ts';
import { type AttentionShape, softmaxRows } from './attention.ts';
import { kernelHeadDim, narrowHeads, widenHeads } from './head-width.ts';
import { openRowPlaces, type RowToken } from './row-places.ts';
import { gatherRows } from './rows.ts';

// B rows in flight, K key/value heads, d head_dim, G = H / K, Np tokens of all prompts, L the longest prompt.

/** Keys and values of one layer for all prompt tokens, [Np, K*d] each. */
export interface PrefixKv {
  readonly k: tf.Tensor2D;
  readonly v: tf.Tensor2D;
}

/** A row's range of the prompt tokens. */
export interface RowPrefix {
  readonly start: number;
  readonly length: number;
}

/** The keys and values of a generation in flight. Rows share their prompt's and keep their own for the tokens they generated. */
export interface KvCache {
  /** Adds each row's k and v [B, K*d] of the current step, unless they were added before, and attends with q [B, H*d]. */
  attend(layer: number, q: tf.Tensor2D, k: tf.Tensor2D, v: tf.Tensor2D, again?: boolean): tf.Tensor2D;
  /** Moves to the next token. */
  advance(): void;
  /** Moves past `count` tokens without computing them, for timing later steps: their keys and values are undefined. */
  skip(count: number): void;
  /** Keeps only these of the current rows. */
  keep(rows: readonly number[]): void;
  /** Whose tokens the next step holds; absent: rows can only be kept. */
  choose?(tokens: readonly RowToken[]): void;
  /** What these of the current rows have written, of each layer, row by row: [R*t, K*d]. Absent: it can't be read back. */
  written?(rows: readonly number[]): PrefixKv[];
  dispose(): void;
}

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

/** Layers in which a token sees only the last `window` ones, itself included. */
export interface SlidingLayers {
  readonly window: number;
  readonly layers: readonly number[];
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
  if (sliding !== null && longest > sliding.window) return openFunctional(prefix, rows, shape, sliding);
  const width = kernelHeadDim(shape.headDim);
  if (width !== shape.headDim) return openWidened(prefix, rows, capacity, shape, width, weights);
  const own = ownCaches.get(tf.getBackend());
  if (own !== undefined) return own(prefix, rows, shape, capacity, weights);
  return readsInPlace() ? openInPlace(prefix, rows, capacity, shape) : openFunctional(prefix, rows, shape, null);
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

/** Runs `make`; what it adds to its list doesn't outlive the first tensor that memory has no room for. */
function allOrNone<T>(make: (made: tf.Tensor[]) => T): T {
  const made: tf.Tensor[] = [];
  try {
    return make(made);
  } catch (error) {
    tf.dispose(made);
    throw error;
  }
}

/** The prompts' keys and values as `change` makes them, added to `made`; each layer is freed as soon as it is changed. */
function takeOver<T extends tf.Tensor>(
  prefix: readonly PrefixKv[],
  made: tf.Tensor[],
  change: (x: tf.Tensor2D) => T,
): { readonly k: T; readonly v: T }[] {
  const changed = (x: tf.Tensor2D): T => {
    const kept = tf.keep(tf.tidy(() => change(x)));
    made.push(kept);
    return kept;
  };
  return prefix.map(({ k, v }) => {
    const layer = { k: changed(k), v: changed(v) };
    tf.dispose([k, v]);
    return layer;
  });
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

function openInPlace(
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

/** On every other backend: keys and values grow by concatenation, prompts are padded to the longest. */
function openFunctional(
  prefix: readonly PrefixKv[],
  prompts: readonly RowPrefix[],
  shape: AttentionShape,
  sliding: SlidingLayers | null,
): KvCache {
  const longest = Math.max(...prompts.map(({ length }) => length));
  const width = shape.numKvHeads * shape.headDim;
  const indices = prompts.flatMap(({ start, length }) =>
    Array.from({ length: longest }, (_, i) => (i < length ? start + i : -1)),
  );
  const padded = (x: tf.Tensor2D): tf.Tensor3D =>
    tf.reshape(gatherRows(x, tf.tensor1d(indices, 'int32')), [prompts.length, longest, width]);
  const layers = allOrNone((made) => takeOver(prefix, made, padded));
  let keys = layers.map(({ k }) => k);
  let values = layers.map(({ v }) => v);
  let lengths = prompts.map(({ length }) => length);
  let step = 0;
  /** What is added to the scores of the prompts, padded to the longest, and of the tokens so far. [B, T] */
  const biasOf = (window: number): tf.Tensor2D => {
    const t = longest + step + 1;
    const bias = new Float32Array(lengths.length * t).fill(-1e30);
    lengths.forEach((length, row) => {
      // The newest token's position is length + step: as many before it are seen as the window holds besides it.
      const own = Math.max(0, step - window + 1);
      bias.fill(0, row * t + Math.max(0, length + step - window + 1), row * t + length);
      bias.fill(0, row * t + longest + own, (row + 1) * t);
    });
    return tf.tensor2d(bias, [lengths.length, t]);
  };
  const windowOf = (layer: number): number => (sliding?.layers.includes(layer) ? sliding.window : Infinity);
  const replace = (list: tf.Tensor3D[], layer: number, tensor: tf.Tensor3D): tf.Tensor3D => {
    list[layer]?.dispose();
    list[layer] = tf.keep(tensor);
    return tensor;
  };
  return {
    attend: (layer, q, k, v, again = false) => {
      const grow = (list: tf.Tensor3D[], x: tf.Tensor2D): tf.Tensor3D => {
        const before = list[layer];
        if (before === undefined) throw new Error(`The cache has no layer ${layer}`);
        if (again) return before;
        return replace(
          list,
          layer,
          tf.tidy(() => tf.concat([before, tf.expandDims(x, 1)], 1) as tf.Tensor3D),
        );
      };
      const [grownKeys, grownValues] = [grow(keys, k), grow(values, v)];
      return tf.tidy(() => attendDense(q, grownKeys, grownValues, biasOf(windowOf(layer)), shape));
    },
    advance: () => {
      step += 1;
    },
    skip: (count) => {
      step += count;
      const longer = (x: tf.Tensor3D): tf.Tensor3D => {
        const padded = tf.keep(
          tf.pad(x, [
            [0, 0],
            [0, count],
            [0, 0],
          ]),
        );
        x.dispose();
        return padded;
      };
      keys = keys.map(longer);
      values = values.map(longer);
    },
    keep: (rows) => {
      const pick = <T extends tf.Tensor>(x: T): T => {
        const kept = tf.keep(tf.tidy(() => tf.gather(x, tf.tensor1d([...rows], 'int32')) as T));
        x.dispose();
        return kept;
      };
      keys = keys.map(pick);
      values = values.map(pick);
      lengths = rows.map((row) => lengths[row] ?? 0);
    },
    written: (rows) => {
      const own = (x: tf.Tensor3D): tf.Tensor2D =>
        tf.keep(
          tf.tidy(() => {
            const used = tf.gather(tf.slice(x, [0, longest, 0], [-1, step, -1]), tf.tensor1d([...rows], 'int32'));
            return tf.reshape(used, [rows.length * step, width]);
          }),
        );
      return allOrNone((made) =>
        keys.map((key, layer) => {
          const read = { k: own(key), v: own(values[layer] as tf.Tensor3D) };
          made.push(read.k, read.v);
          return read;
        }),
      );
    },
    dispose: () => tf.dispose([keys, values]),
  };
}

/** q [B, H*d] over keys and values [B, T, K*d]; `bias` [B, T] is added to the scores. */
function attendDense(
  q: tf.Tensor2D,
  keys: tf.Tensor3D,
  values: tf.Tensor3D,
  bias: tf.Tensor2D,
  shape: AttentionShape,
): tf.Tensor2D {
  const { numHeads, numKvHeads, headDim, scale } = shape;
  const [b, t] = keys.shape;
  const perHead = (x: tf.Tensor3D): tf.Tensor3D =>
    tf.reshape(tf.transpose(tf.reshape(x, [b, t, numKvHeads, headDim]), [0, 2, 1, 3]), [b * numKvHeads, t, headDim]);
  const scores = tf.mul(
    tf.matMul(tf.reshape(q, [b * numKvHeads, numHeads / numKvHeads, headDim]), perHead(keys), false, true),
    scale,
  );
  const masked = tf.add(tf.reshape(scores, [b, numHeads, t]), tf.expandDims(bias, 1));
  const p = tf.reshape(softmaxRows(masked), [b * numKvHeads, numHeads / numKvHeads, t]) as tf.Tensor3D;
  return tf.reshape(tf.matMul(p, perHead(values)), [b, numHeads * headDim]);
}
