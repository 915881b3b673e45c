/**
 * Packed attention with a sliding window, for texts that are longer than the window; others need none. In plain ops,
 * segment by segment: no backend has a kernel of it.
 */
import * as tf from '@tensorflow/tfjs-core';
import { checkpointedParts } from '../gradient-checkpoint.ts';
import { type AttentionShape, byKvHead, byToken, softmaxRows } from './attention.ts';

// N tokens of a packed batch, H query heads, K key/value heads, d head_dim, T tokens of a segment, L of its prefix.

interface Segment {
  readonly start: number;
  readonly length: number;
  readonly prefixStart: number;
  readonly prefixLength: number;
}

/** The rows of a segment table, as `packedAttention` takes it, by start. */
function readSegments(segments: tf.Tensor2D): Segment[] {
  const rows = segments.dataSync<'int32'>();
  return Array.from({ length: rows.length / 4 }, (_, s) => {
    const [start = 0, length = 0, prefixStart = 0, prefixLength = 0] = rows.subarray(4 * s, 4 * s + 4);
    return { start, length, prefixStart, prefixLength };
  })
    .filter(({ length }) => length > 0)
    .sort((a, b) => a.start - b.start);
}

/** Tokens of the longest sequence: a segment after its prefix. */
export function longestSequence(segments: tf.Tensor2D): number {
  return readSegments(segments).reduce((most, { length, prefixLength }) => Math.max(most, prefixLength + length), 0);
}

/** What a token may not see gets this added to its score. */
const HIDDEN = -1e30;

/** 0 where a segment's token may see a token of prefix and segment, a huge negative number elsewhere. [T, L+T] */
function windowMask({ length, prefixLength }: Segment, window: number): tf.Tensor2D {
  const width = prefixLength + length;
  const mask = new Float32Array(length * width).fill(HIDDEN);
  for (let i = 0; i < length; i++) {
    const position = prefixLength + i;
    mask.fill(0, i * width + Math.max(0, position - window + 1), i * width + position + 1);
  }
  return tf.tensor2d(mask, [length, width]);
}

function attendSegment(
  [q, k, v]: readonly tf.Tensor2D[],
  segment: Segment,
  { numHeads, numKvHeads, headDim, scale }: AttentionShape,
  window: number,
): tf.Tensor2D {
  const { start, length, prefixStart, prefixLength } = segment;
  const rows = (x: tf.Tensor2D | undefined, first: number, count: number): tf.Tensor2D =>
    tf.slice(x as tf.Tensor2D, [first, 0], [count, -1]);
  const seen = (x: tf.Tensor2D | undefined): tf.Tensor3D => {
    const own = rows(x, start, length);
    const all = prefixLength === 0 ? own : tf.concat([rows(x, prefixStart, prefixLength), own], 0);
    return byKvHead(all, numKvHeads, headDim); // [K, L+T, d]
  };
  const width = prefixLength + length;
  const queries = byKvHead(rows(q, start, length), numKvHeads, headDim); // [K, H/K*T, d]
  const scores = tf.mul(tf.matMul(queries, seen(k), false, true), scale);
  const masked = tf.add(tf.reshape(scores, [numHeads, length, width]), windowMask(segment, window));
  const probabilities = tf.reshape(softmaxRows(masked), scores.shape as [number, number, number]);
  return byToken(tf.matMul(probabilities, seen(v)), length, numHeads, headDim);
}

/** As `packedAttention`, but a token sees the last `window` tokens of its sequence only, itself included. */
export function windowedAttention(
  q: tf.Tensor2D,
  k: tf.Tensor2D,
  v: tf.Tensor2D,
  segments: tf.Tensor2D,
  shape: AttentionShape & { readonly window: number },
): tf.Tensor2D {
  const parts = readSegments(segments).map((segment) => ({
    rows: segment.length,
    run: (inputs: readonly tf.Tensor2D[]) => attendSegment(inputs, segment, shape, shape.window),
  }));
  return checkpointedParts(parts, [q, k, v]);
}
