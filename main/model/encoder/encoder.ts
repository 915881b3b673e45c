/**
 * Text encoders with attention in both directions: BERT (Devlin et al. 2018), RoBERTa and XLM-RoBERTa (Liu et al. 2019),
 * DistilBERT (Sanh et al. 2019), MPNet (Song et al. 2020) and DeBERTa v2 and v3 (He et al. 2021). One text at a time, so
 * nothing is padded. Matrix products run on the backend; the rest is small and runs here.
 *
 * T tokens of a text, D hidden size.
 */
import * as tf from '@tensorflow/tfjs-core';
import { loadTokenizer } from '../tokenizer.ts';
import { type EncoderConfig, readEncoderConfig } from './config.ts';
import { biasBucket, type DistanceScore, distanceRow } from './distances.ts';
import { type EncoderWeights, type Layer, type Linear, type Norm, readEncoderWeights } from './weights.ts';

/** An encoder, for whatever is built on it. */
export interface Encoder {
  readonly config: EncoderConfig;
  /** The last layer's vectors of a text, [T*D]; texts beyond the longest keep their start and their last token. */
  hidden(text: string): Float32Array;
  dispose(): void;
}

/** What a layer's attention knows of distances. */
type LayerDistances = (q: Float32Array, k: Float32Array) => DistanceScore;

/** Loads the encoder of a Hugging Face folder (config.json, tokenizer.json, model.safetensors), without its head. */
export function loadEncoder(folder: string): Encoder {
  const config = readEncoderConfig(folder);
  const tokenizer = loadTokenizer(folder);
  const weights = readEncoderWeights(folder, config);
  const distances = weights.layers.map((layer) => layerDistances(layer, weights, config));
  return {
    config,
    hidden: (text) => {
      const ids = tokenizer.encode(text, true);
      const kept = [...ids.slice(0, config.tokens - 1), ...ids.slice(config.tokens - 1).slice(-1)];
      let hidden = embed(kept, weights, config); // [T*D]
      for (const [i, layer] of weights.layers.entries())
        hidden = runLayer(hidden, kept.length, layer, distances[i] ?? null, config);
      return hidden;
    },
    dispose: weights.dispose,
  };
}

function embed(ids: readonly number[], weights: EncoderWeights, config: EncoderConfig): Float32Array {
  const { hiddenSize: size, firstPosition, normEpsilon } = config;
  const { words, positions, tokenType } = weights;
  const out = new Float32Array(ids.length * size);
  for (const [t, id] of ids.entries()) {
    const position = (t + (firstPosition ?? 0)) * size;
    for (let d = 0; d < size; d++)
      out[t * size + d] = (words[id * size + d] ?? 0) + (positions?.[position + d] ?? 0) + (tokenType?.[d] ?? 0);
  }
  return normalised(out, weights.embeddedNorm, normEpsilon);
}

function runLayer(
  hidden: Float32Array,
  tokens: number,
  layer: Layer,
  distances: LayerDistances | null,
  config: EncoderConfig,
): Float32Array {
  const { normEpsilon } = config;
  const [q, k, v] = [apply(hidden, layer.query), apply(hidden, layer.key), apply(hidden, layer.value)];
  const attended = apply(attend(q, k, v, tokens, distances, config), layer.attended);
  const middle = normalised(sum(attended, hidden), layer.attendedNorm, normEpsilon);
  const wide = apply(middle, layer.wide).map(gelu);
  return normalised(sum(apply(wide, layer.narrow), middle), layer.outputNorm, normEpsilon);
}

/** x Wᵀ + b. [T*in] → [T*out] */
function apply(x: Float32Array, { weight, bias }: Linear): Float32Array {
  const width = weight.shape[1];
  const product = tf.tidy(() => tf.matMul(tf.tensor2d(x, [x.length / width, width]), weight, false, true));
  const out = product.dataSync<'float32'>().slice();
  product.dispose();
  for (let i = 0; i < out.length; i++) out[i] = (out[i] ?? 0) + (bias[i % bias.length] ?? 0);
  return out;
}

/** Every token attends to every other, head by head. */
function attend(
  q: Float32Array,
  k: Float32Array,
  v: Float32Array,
  tokens: number,
  distances: LayerDistances | null,
  config: EncoderConfig,
): Float32Array {
  const { hiddenSize: size, heads } = config;
  const width = size / heads;
  const scale = scoreScale(config);
  const distanceScore = distances?.(q, k) ?? null;
  const out = new Float32Array(tokens * size);
  const weights = new Float64Array(tokens);
  for (let head = 0; head < heads; head++) {
    const start = head * width;
    for (let t = 0; t < tokens; t++) {
      let largest = Number.NEGATIVE_INFINITY;
      for (let s = 0; s < tokens; s++) {
        const dot = dotProduct(q, t * size + start, k, s * size + start, width);
        weights[s] = dot / scale + (distanceScore?.(head, t, s) ?? 0);
        largest = Math.max(largest, weights[s] ?? 0);
      }
      let total = 0;
      for (let s = 0; s < tokens; s++) {
        weights[s] = Math.exp((weights[s] ?? 0) - largest);
        total += weights[s] ?? 0;
      }
      for (let s = 0; s < tokens; s++)
        for (let d = start; d < start + width; d++)
          out[t * size + d] = (out[t * size + d] ?? 0) + ((weights[s] ?? 0) / total) * (v[s * size + d] ?? 0);
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

/** MPNet: one bias for all layers. DeBERTa: products with the distances' own keys and queries, which are made once. */
function layerDistances(layer: Layer, weights: EncoderWeights, config: EncoderConfig): LayerDistances | null {
  const { hiddenSize: size, heads, distances, normEpsilon } = config;
  const table = weights.distances;
  if (distances === null || table === null) return null;
  if (distances.kind === 'bias')
    return () => (head, t, s) => table[biasBucket(s - t, distances.buckets) * heads + head] ?? 0;
  const { span, logarithmicTo, contentToPosition, positionToContent } = distances;
  const used = table.subarray(0, 2 * span * size);
  const vectors = weights.distancesNorm === null ? used : normalised(used, weights.distancesNorm, normEpsilon);
  const keys = contentToPosition ? apply(vectors, layer.distanceKey ?? layer.key) : null;
  const queries = positionToContent ? apply(vectors, layer.distanceQuery ?? layer.query) : null;
  const [width, scale] = [size / heads, scoreScale(config)];
  return (q, k) => (head, t, s) => {
    const start = head * width;
    const row = distanceRow(t - s, span, logarithmicTo) * size + start;
    const toPosition = keys === null ? 0 : dotProduct(q, t * size + start, keys, row, width);
    const toContent = queries === null ? 0 : dotProduct(k, s * size + start, queries, row, width);
    return (toPosition + toContent) / scale;
  };
}

function dotProduct(a: Float32Array, at: number, b: Float32Array, bt: number, width: number): number {
  let dot = 0;
  for (let d = 0; d < width; d++) dot += (a[at + d] ?? 0) * (b[bt + d] ?? 0);
  return dot;
}

/** LayerNorm of each row (Ba et al. 2016). */
function normalised(x: Float32Array, { weight, bias }: Norm, epsilon: number): Float32Array {
  const size = weight.length;
  const out = new Float32Array(x.length);
  for (let start = 0; start < x.length; start += size) {
    const row = x.subarray(start, start + size);
    const mean = row.reduce((total, value) => total + value, 0) / size;
    const variance = row.reduce((total, value) => total + (value - mean) ** 2, 0) / size;
    const scale = 1 / Math.sqrt(variance + epsilon);
    for (let d = 0; d < size; d++) out[start + d] = ((row[d] ?? 0) - mean) * scale * (weight[d] ?? 1) + (bias[d] ?? 0);
  }
  return out;
}

/** x · Φ(x), with the error function of Abramowitz and Stegun 7.1.26 (within 1.5e-7). */
export function gelu(x: number): number {
  const z = Math.abs(x) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * z);
  const poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const erf = Math.sign(x) * (1 - poly * Math.exp(-z * z));
  return 0.5 * x * (1 + erf);
}

function sum(a: Float32Array, b: Float32Array): Float32Array {
  return a.map((value, i) => value + (b[i] ?? 0));
}
