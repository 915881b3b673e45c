import * as tf from '@tensorflow/tfjs-core';
import { input, registerPortable, runOp, savedTensor } from '../portable.ts';
import { kernelHeadDim, narrowHeads, widenHeads } from './head-width.ts';

// N tokens of a packed batch, S segments, H query heads, K key/value heads, d head_dim, G = H / K.

export interface AttentionShape {
  readonly numHeads: number;
  readonly numKvHeads: number;
  readonly headDim: number;
  /** Multiplies the scores: head_dim^-0.5 in every model here. */
  readonly scale: number;
}

/** 0 where query n may see key m, -inf elsewhere, as [N, N]. */
function visibilityMask(segments: tf.Tensor2D, n: number): tf.Tensor2D {
  const rows = segments.dataSync();
  const mask = new Float32Array(n * n).fill(-1e30);
  for (let s = 0; s < rows.length; s += 4) {
    const [start = 0, length = 0, prefixStart = 0, prefixLength = 0] = rows.subarray(s, s + 4);
    for (let i = start; i < start + length; i++) {
      mask.fill(0, i * n + prefixStart, i * n + prefixStart + prefixLength);
      mask.fill(0, i * n + start, i * n + i + 1);
    }
  }
  return tf.tensor2d(mask, [n, n]);
}

/** [N, heads*d] → [K, (heads/K)*N, d]: query heads that share a key/value head become extra rows of it. */
export function byKvHead(x: tf.Tensor2D, kvHeads: number, headDim: number): tf.Tensor3D {
  const [n, width] = x.shape;
  const heads = width / headDim;
  return tf.reshape(tf.transpose(tf.reshape(x, [n, heads, headDim]), [1, 0, 2]), [
    kvHeads,
    (heads / kvHeads) * n,
    headDim,
  ]);
}

/** The inverse of `byKvHead`. */
export function byToken(x: tf.Tensor3D, n: number, heads: number, headDim: number): tf.Tensor2D {
  return tf.reshape(tf.transpose(tf.reshape(x, [heads, n, headDim]), [1, 0, 2]), [n, heads * headDim]);
}

/** Softmax along the last axis in ops that every backend has. */
export function softmaxRows(x: tf.Tensor): tf.Tensor {
  const exps = tf.exp(tf.sub(x, tf.max(x, 2, true)));
  return tf.div(exps, tf.sum(exps, 2, true));
}

function maskedScores(q: tf.Tensor3D, k: tf.Tensor3D, segments: tf.Tensor2D, shape: AttentionShape): tf.Tensor3D {
  const n = k.shape[1];
  const groups = shape.numHeads / shape.numKvHeads;
  const scores = tf.mul(tf.matMul(q, k, false, true), shape.scale); // [K, G*N, N]
  const masked = tf.add(tf.reshape(scores, [shape.numHeads, n, n]), visibilityMask(segments, n));
  return tf.reshape(masked, [shape.numKvHeads, groups * n, n]);
}

registerPortable<AttentionShape>('PackedAttention', (inputs, shape) => {
  const { numHeads, numKvHeads, headDim } = shape;
  const [q, k, v] = ['q', 'k', 'v'].map((name) => byKvHead(input<tf.Tensor2D>(inputs, name), numKvHeads, headDim)) as [
    tf.Tensor3D,
    tf.Tensor3D,
    tf.Tensor3D,
  ];
  const n = k.shape[1];
  const scores = maskedScores(q, k, input<tf.Tensor2D>(inputs, 'segments'), shape);
  const lse = tf.logSumExp(scores, 2, true); // [K, G*N, 1]
  const out = tf.matMul(tf.exp(tf.sub(scores, lse)), v);
  return [byToken(out as tf.Tensor3D, n, numHeads, headDim), tf.transpose(tf.reshape(lse, [numHeads, n]))];
});

registerPortable<AttentionShape>('PackedAttentionGrad', (inputs, shape) => {
  const { numHeads, numKvHeads, headDim } = shape;
  const [dy, q, k, v, out] = ['dy', 'q', 'k', 'v', 'out'].map((name) =>
    byKvHead(input<tf.Tensor2D>(inputs, name), numKvHeads, headDim),
  ) as [tf.Tensor3D, tf.Tensor3D, tf.Tensor3D, tf.Tensor3D, tf.Tensor3D];
  const n = k.shape[1];
  const lse = tf.reshape(tf.transpose(input<tf.Tensor2D>(inputs, 'lse')), [numKvHeads, -1, 1]);
  const p = tf.exp(tf.sub(maskedScores(q, k, input<tf.Tensor2D>(inputs, 'segments'), shape), lse)); // [K, G*N, N]
  const dp = tf.matMul(dy, v, false, true);
  const ds = tf.mul(tf.mul(p, tf.sub(dp, tf.sum(tf.mul(dy, out), 2, true))), shape.scale);
  return [
    byToken(tf.matMul(ds, k) as tf.Tensor3D, n, numHeads, headDim),
    byToken(tf.matMul(ds, q, true, false) as tf.Tensor3D, n, numKvHeads, headDim),
    byToken(tf.matMul(p, dy, true, false) as tf.Tensor3D, n, numKvHeads, headDim),
  ];
});

tf.registerGradient({
  kernelName: 'PackedAttention',
  inputsToSave: ['q', 'k', 'v', 'segments'],
  outputsToSave: [true, true],
  gradFunc: (dys, saved, attrs) => {
    const names = ['q', 'k', 'v', 'segments', 'out', 'lse'];
    const inputs = Object.fromEntries(names.map((name, i) => [name, savedTensor(saved, i)]));
    const dy = savedTensor(dys as tf.Tensor[], 0);
    const grads = runOp<tf.Tensor[]>('PackedAttentionGrad', { dy, ...inputs }, attrs);
    return { q: () => savedTensor(grads, 0), k: () => savedTensor(grads, 1), v: () => savedTensor(grads, 2) };
  },
});

/**
 * Attention over a packed batch without padding. Each row of `segments` is (start, length, prefixStart, prefixLength):
 * its tokens see the whole prefix and, causally, their own segment, so that a group of completions shares one prompt.
 * The tokens of a segment that is its own prefix see all of it.
 * q [N, H*d], k and v [N, K*d], segments int32 [S, 4] covering every token once → [N, H*d].
 */
export function packedAttention(
  q: tf.Tensor2D,
  k: tf.Tensor2D,
  v: tf.Tensor2D,
  segments: tf.Tensor2D,
  shape: AttentionShape,
): tf.Tensor2D {
  const { headDim } = shape;
  const width = kernelHeadDim(headDim);
  if (width === headDim)
    return savedTensor<tf.Tensor2D>(runOp<tf.Tensor[]>('PackedAttention', { q, k, v, segments }, shape), 0);
  const [wideQ, wideK, wideV] = [q, k, v].map((x) => widenHeads(x, headDim, width)) as [
    tf.Tensor2D,
    tf.Tensor2D,
    tf.Tensor2D,
  ];
  return narrowHeads(packedAttention(wideQ, wideK, wideV, segments, { ...shape, headDim: width }), width, headDim);
}
