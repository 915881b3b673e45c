/** The cache of backends without a kernel, and of windows: it grows by concatenation, prompts are padded to the longest. */
import * as tf from '@tensorflow/tfjs-core';
import { type AttentionShape, softmaxRows } from './attention.ts';
import { allOrNone, type KvCache, type PrefixKv, type RowPrefix, type SlidingLayers, takeOver } from './kv-cache.ts';
import { gatherRows } from './rows.ts';

// B rows in flight, H heads, K key/value heads, d head_dim, T tokens so far.

export function openDense(
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
