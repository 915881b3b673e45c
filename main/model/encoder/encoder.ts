/**
 * Text encoders with attention in both directions: BERT (Devlin et al. 2018), RoBERTa and XLM-RoBERTa (Liu et al. 2019),
 * DistilBERT (Sanh et al. 2019), MPNet (Song et al. 2020) and DeBERTa v2 and v3 (He et al. 2021). Texts are packed one
 * behind the other, without padding between them. Attention that knows distances runs here, all else on the backend.
 *
 * N tokens of a pack, T tokens of a text, D hidden size.
 */
import * as tf from '@tensorflow/tfjs-core';
import { pulse } from '../../pulse.ts';
import { packedAttention } from '../../tensor/ops/attention.ts';
import { gelu } from '../../tensor/ops/gelu.ts';
import { loadTokenizer, type Tokenizer } from '../tokenizer.ts';
import { type EncoderConfig, readEncoderConfig } from './config.ts';
import { attendWithDistances, type LayerDistances, layerDistances } from './distance-attention.ts';
import { type Pack, packTexts } from './packs.ts';
import { apply, type EncoderWeights, type Layer, norm, readEncoderWeights } from './weights.ts';

/** An encoder, for whatever is built on it. */
export interface Encoder {
  readonly config: EncoderConfig;
  readonly tokenizer: Tokenizer;
  /**
   * The last layer's vectors of each text, or of its tokens, [T*D]; those of more tokens than `most` keep their start and
   * their last token. They don't depend on which texts are encoded together.
   */
  hidden(texts: readonly (string | readonly number[])[], most?: number): Float32Array[];
  dispose(): void;
}

/** Loads the encoder of a Hugging Face folder (config.json, tokenizer.json, model.safetensors), without its head. */
export function loadEncoder(folder: string): Encoder {
  const config = readEncoderConfig(folder);
  const tokenizer = loadTokenizer(folder);
  const weights = readEncoderWeights(folder, config);
  const distances = weights.layers.map((layer) => layerDistances(layer, weights, config));
  return {
    config,
    tokenizer,
    hidden: (texts, most = config.tokens) => {
      const last = Math.min(most, config.tokens) - 1;
      const kept = texts.map((text) => {
        const ids = typeof text === 'string' ? tokenizer.encode(text, true) : text;
        return [...ids.slice(0, last), ...ids.slice(last).slice(-1)];
      });
      const out: Float32Array[] = texts.map(() => new Float32Array());
      for (const pack of packTexts(kept)) {
        pulse();
        const states = runPack(pack, weights, distances, config);
        for (const { text, start, length } of pack.spans)
          out[text] = states.slice(start * config.hiddenSize, (start + length) * config.hiddenSize);
      }
      return out;
    },
    dispose: weights.dispose,
  };
}

/** The vectors of a pack's tokens, [N*D]. */
function runPack(
  pack: Pack,
  weights: EncoderWeights,
  distances: readonly (LayerDistances | null)[],
  config: EncoderConfig,
): Float32Array {
  const [tokens, size] = [pack.ids.length, config.hiddenSize];
  return tf.tidy(() => {
    const embedded = tf.tensor2d(embed(pack, weights, config), [tokens, size]);
    let hidden = norm(embedded, weights.embeddedNorm, config.normEpsilon); // [N, D]
    const segments = tf.tensor2d(pack.segments, [pack.segments.length / 4, 4], 'int32');
    for (const [i, layer] of weights.layers.entries()) {
      const input = hidden;
      const attend = attention(pack, segments, distances[i] ?? null, config);
      hidden = tf.tidy(() => runLayer(input, layer, attend, config));
      input.dispose();
    }
    return hidden.dataSync<'float32'>();
  });
}

/** Sums of what the words, positions and kinds of tokens have as vectors. */
function embed({ ids, positions: places }: Pack, weights: EncoderWeights, config: EncoderConfig): Float32Array {
  const { hiddenSize: size, firstPosition } = config;
  const { words, positions, tokenType } = weights;
  const out = new Float32Array(ids.length * size);
  for (let t = 0; t < ids.length; t++) {
    const word = (ids[t] ?? 0) * size;
    const position = ((places[t] ?? 0) + (firstPosition ?? 0)) * size;
    for (let d = 0; d < size; d++)
      out[t * size + d] = (words[word + d] ?? 0) + (positions?.[position + d] ?? 0) + (tokenType?.[d] ?? 0);
  }
  return out;
}

type Attend = (q: tf.Tensor2D, k: tf.Tensor2D, v: tf.Tensor2D) => tf.Tensor2D;

/** Every token attends to every other of its text. */
function attention(pack: Pack, segments: tf.Tensor2D, distances: LayerDistances | null, config: EncoderConfig): Attend {
  const { hiddenSize, heads } = config;
  const headDim = hiddenSize / heads;
  const shape = { numHeads: heads, numKvHeads: heads, headDim, scale: headDim ** -0.5 };
  if (distances === null) return (q, k, v) => packedAttention(q, k, v, segments, shape);
  return (q, k, v) => {
    const [onHostQ, onHostK, onHostV] = [q, k, v].map((x) => x.dataSync<'float32'>()) as [
      Float32Array,
      Float32Array,
      Float32Array,
    ];
    return tf.tensor2d(attendWithDistances(onHostQ, onHostK, onHostV, pack.spans, distances, config), q.shape);
  };
}

function runLayer(hidden: tf.Tensor2D, layer: Layer, attend: Attend, { normEpsilon }: EncoderConfig): tf.Tensor2D {
  const [q, k, v] = [apply(hidden, layer.query), apply(hidden, layer.key), apply(hidden, layer.value)];
  const attended = apply(attend(q, k, v), layer.attended);
  const middle = norm(tf.add(attended, hidden), layer.attendedNorm, normEpsilon);
  const wide = gelu(apply(middle, layer.wide));
  return norm(tf.add(apply(wide, layer.narrow), middle), layer.outputNorm, normEpsilon);
}
