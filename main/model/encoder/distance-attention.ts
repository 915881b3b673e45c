/** Attention that knows how far apart tokens are (MPNet, DeBERTa), text by text on the processor. */
import * as tf from '@tensorflow/tfjs-core';
import type { EncoderConfig } from './config.ts';
import { biasBucket, distanceRow } from './distances.ts';
import type { Span } from './packs.ts';
import { apply, type EncoderWeights, type Layer, type Linear, norm } from './weights.ts';

// N tokens of a pack, D hidden size.

/** Adds to the score of query t and key s, rows of a pack in the same text, in a head. */
type DistanceScore = (head: number, t: number, s: number) => number;

/** What a layer's attention knows of distances, once it has a pack's queries and keys. */
export type LayerDistances = (q: Float32Array, k: Float32Array) => DistanceScore;

/** MPNet: one bias for all layers. DeBERTa: products with the distances' own keys and queries, which are made once. */
export function layerDistances(layer: Layer, weights: EncoderWeights, config: EncoderConfig): LayerDistances | null {
  const { hiddenSize: size, heads, distances, normEpsilon } = config;
  const table = weights.distances;
  if (distances === null || table === null) return null;
  if (distances.kind === 'bias')
    return () => (head, t, s) => table[biasBucket(s - t, distances.buckets) * heads + head] ?? 0;
  const { span, logarithmicTo, contentToPosition, positionToContent } = distances;
  const through = (linear: Linear): Float32Array =>
    tf.tidy(() => {
      const used = tf.tensor2d(table.slice(0, 2 * span * size), [2 * span, size]);
      const vectors = weights.distancesNorm === null ? used : norm(used, weights.distancesNorm, normEpsilon);
      return apply(vectors, linear).dataSync<'float32'>();
    });
  const keys = contentToPosition ? through(layer.distanceKey ?? layer.key) : null;
  const queries = positionToContent ? through(layer.distanceQuery ?? layer.query) : null;
  const [width, scale] = [size / heads, scoreScale(config)];
  return (q, k) => (head, t, s) => {
    const start = head * width;
    const row = distanceRow(t - s, span, logarithmicTo) * size + start;
    const toPosition = keys === null ? 0 : dotProduct(q, t * size + start, keys, row, width);
    const toContent = queries === null ? 0 : dotProduct(k, s * size + start, queries, row, width);
    return (toPosition + toContent) / scale;
  };
}

/** Every token attends to every other of its text, head by head. All [N*D]. */
export function attendWithDistances(
  q: Float32Array,
  k: Float32Array,
  v: Float32Array,
  spans: readonly Span[],
  distances: LayerDistances,
  config: EncoderConfig,
): Float32Array {
  const { hiddenSize: size, heads } = config;
  const width = size / heads;
  const scale = scoreScale(config);
  const distanceScore = distances(q, k);
  const out = new Float32Array(q.length);
  for (const { start: from, length } of spans) {
    const weights = new Float64Array(length);
    for (let head = 0; head < heads; head++) {
      const start = head * width;
      for (let t = from; t < from + length; t++) {
        let largest = Number.NEGATIVE_INFINITY;
        for (let s = from; s < from + length; s++) {
          const dot = dotProduct(q, t * size + start, k, s * size + start, width);
          weights[s - from] = dot / scale + distanceScore(head, t, s);
          largest = Math.max(largest, weights[s - from] ?? 0);
        }
        let total = 0;
        for (let s = 0; s < length; s++) {
          weights[s] = Math.exp((weights[s] ?? 0) - largest);
          total += weights[s] ?? 0;
        }
        for (let s = 0; s < length; s++)
          for (let d = start; d < start + width; d++)
            out[t * size + d] =
              (out[t * size + d] ?? 0) + ((weights[s] ?? 0) / total) * (v[(from + s) * size + d] ?? 0);
      }
    }
  }
  return out;
}

/** Scores are divided by it: √(d · parts), as many parts as DeBERTa's scores are the sum of. */
function scoreScale({ hiddenSize, heads, distances }: EncoderConfig): number {
  const parts =
    distances?.kind === 'vectors' ? 1 + Number(distances.contentToPosition) + Number(distances.positionToContent) : 1;
  return Math.sqrt((hiddenSize / heads) * parts);
}

function dotProduct(a: Float32Array, at: number, b: Float32Array, bt: number, width: number): number {
  let dot = 0;
  for (let d = 0; d < width; d++) dot += (a[at + d] ?? 0) * (b[bt + d] ?? 0);
  return dot;
}
