/**
 * Sentence embeddings by a BERT encoder (Devlin et al. 2018) such as all-MiniLM-L6-v2: the mean of the last layer's
 * vectors (or the first one, depending on the folder's pooling), normalised to length 1 (Reimers and Gurevych 2019). One text at a
 * time, so nothing is padded. Matrix products run on the backend; the rest is small and runs here.
 *
 * T tokens of a text, D hidden size.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { inputError } from '../errors.ts';
import { readJson } from './config.ts';
import { openSafetensors, type SafetensorsFile } from './safetensors.ts';
import { loadTokenizer } from './tokenizer.ts';

export interface SentenceEncoder {
  /** The vector of a text, of length 1. [D] */
  encode(text: string): Float32Array;
  dispose(): void;
}

const configSchema = z.looseObject({
  model_type: z.literal('bert'),
  hidden_size: z.int().min(1),
  num_hidden_layers: z.int().min(1),
  num_attention_heads: z.int().min(1),
  max_position_embeddings: z.int().min(2),
  layer_norm_eps: z.number().default(1e-12),
  hidden_act: z.literal('gelu').default('gelu'),
});
type EncoderConfig = z.infer<typeof configSchema>;

interface Linear {
  /** [out, in] as stored. */
  readonly weight: tf.Tensor2D;
  readonly bias: Float32Array;
}

interface Norm {
  readonly weight: Float32Array;
  readonly bias: Float32Array;
}

interface Layer {
  readonly query: Linear;
  readonly key: Linear;
  readonly value: Linear;
  readonly attended: Linear;
  readonly attendedNorm: Norm;
  readonly wide: Linear;
  readonly narrow: Linear;
  readonly outputNorm: Norm;
}

/** Loads the encoder of a Hugging Face folder: config.json, tokenizer.json, model.safetensors. */
export function loadSentenceEncoder(folder: string): SentenceEncoder {
  const config = readConfig(folder);
  const tokenizer = loadTokenizer(folder);
  const firstOnly = poolsFirst(folder);
  const { embed, layers, dispose } = readWeights(folder, config);
  return {
    encode: (text) => {
      const ids = tokenizer.encode(text, true);
      const kept = [
        ...ids.slice(0, config.max_position_embeddings - 1),
        ...ids.slice(config.max_position_embeddings - 1).slice(-1),
      ];
      let hidden = embed(kept); // [T*D]
      for (const layer of layers) hidden = runLayer(hidden, kept.length, layer, config);
      return unit(firstOnly ? hidden.slice(0, config.hidden_size) : meanRow(hidden, config.hidden_size));
    },
    dispose,
  };
}

function readConfig(folder: string): EncoderConfig {
  const file = join(folder, 'config.json');
  const parsed = configSchema.safeParse(readJson(file));
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => `"${path.join('.')}": ${message}`).join('; ');
  throw inputError(
    'BAD_ENCODER',
    `${file}: not a readable sentence encoder (${issues})`,
    'Give the folder of a BERT encoder such as all-MiniLM-L6-v2, or null for lexical relevance.',
  );
}

/** sentence-transformers keeps the pooling mode in a folder of its own; the default is the mean. */
function poolsFirst(folder: string): boolean {
  const file = join(folder, '1_Pooling', 'config.json');
  if (!existsSync(file)) return false;
  return (readJson(file) as { readonly pooling_mode_cls_token?: unknown } | null)?.pooling_mode_cls_token === true;
}

function readWeights(folder: string, config: EncoderConfig) {
  const file = openSafetensors(join(folder, 'model.safetensors'));
  const made: tf.Tensor[] = [];
  const dispose = (): void => tf.dispose(made);
  try {
    const read = reader(file);
    const linear = (name: string): Linear => {
      const bias = read(`${name}.bias`);
      const values = read(`${name}.weight`);
      const weight = tf.tensor2d(values, [bias.length, values.length / bias.length]);
      made.push(weight);
      return { weight, bias };
    };
    const norm = (name: string): Norm => ({ weight: read(`${name}.weight`), bias: read(`${name}.bias`) });
    const layers = Array.from({ length: config.num_hidden_layers }, (_, i): Layer => {
      const at = `encoder.layer.${i}`;
      return {
        query: linear(`${at}.attention.self.query`),
        key: linear(`${at}.attention.self.key`),
        value: linear(`${at}.attention.self.value`),
        attended: linear(`${at}.attention.output.dense`),
        attendedNorm: norm(`${at}.attention.output.LayerNorm`),
        wide: linear(`${at}.intermediate.dense`),
        narrow: linear(`${at}.output.dense`),
        outputNorm: norm(`${at}.output.LayerNorm`),
      };
    });
    return { embed: embedder(read, norm('embeddings.LayerNorm'), config), layers, dispose };
  } catch (error) {
    dispose();
    throw error;
  } finally {
    file.close();
  }
}

/** Names with or without the "bert." prefix that a model with a head has. */
function reader(file: SafetensorsFile): (name: string) => Float32Array<ArrayBuffer> {
  return (name) => file.read(file.entries.has(name) ? name : `bert.${name}`);
}

function embedder(read: (name: string) => Float32Array, norm: Norm, config: EncoderConfig) {
  const words = read('embeddings.word_embeddings.weight');
  const positions = read('embeddings.position_embeddings.weight');
  const types = read('embeddings.token_type_embeddings.weight');
  const size = config.hidden_size;
  return (ids: readonly number[]): Float32Array => {
    const out = new Float32Array(ids.length * size);
    for (const [t, id] of ids.entries())
      for (let d = 0; d < size; d++)
        out[t * size + d] = (words[id * size + d] ?? 0) + (positions[t * size + d] ?? 0) + (types[d] ?? 0);
    return normalised(out, norm, config);
  };
}

function runLayer(hidden: Float32Array, tokens: number, layer: Layer, config: EncoderConfig): Float32Array {
  const [q, k, v] = [layer.query, layer.key, layer.value].map((part) => apply(hidden, tokens, part));
  const attended = apply(attend(q ?? hidden, k ?? hidden, v ?? hidden, tokens, config), tokens, layer.attended);
  const middle = normalised(sum(attended, hidden), layer.attendedNorm, config);
  const wide = apply(middle, tokens, layer.wide).map(gelu);
  return normalised(sum(apply(wide, tokens, layer.narrow), middle), layer.outputNorm, config);
}

/** x Wᵀ + b. [T*in] → [T*out] */
function apply(x: Float32Array, tokens: number, { weight, bias }: Linear): Float32Array {
  const product = tf.tidy(() => tf.matMul(tf.tensor2d(x, [tokens, x.length / tokens]), weight, false, true));
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
  config: EncoderConfig,
): Float32Array {
  const size = config.hidden_size;
  const head = size / config.num_attention_heads;
  const out = new Float32Array(tokens * size);
  const weights = new Float64Array(tokens);
  for (let start = 0; start < size; start += head) {
    for (let t = 0; t < tokens; t++) {
      let largest = Number.NEGATIVE_INFINITY;
      for (let s = 0; s < tokens; s++) {
        let dot = 0;
        for (let d = start; d < start + head; d++) dot += (q[t * size + d] ?? 0) * (k[s * size + d] ?? 0);
        weights[s] = dot / Math.sqrt(head);
        largest = Math.max(largest, weights[s] ?? 0);
      }
      let total = 0;
      for (let s = 0; s < tokens; s++) {
        weights[s] = Math.exp((weights[s] ?? 0) - largest);
        total += weights[s] ?? 0;
      }
      for (let s = 0; s < tokens; s++)
        for (let d = start; d < start + head; d++)
          out[t * size + d] = (out[t * size + d] ?? 0) + ((weights[s] ?? 0) / total) * (v[s * size + d] ?? 0);
    }
  }
  return out;
}

/** LayerNorm of each row (Ba et al. 2016). */
function normalised(x: Float32Array, { weight, bias }: Norm, config: EncoderConfig): Float32Array {
  const size = config.hidden_size;
  const out = new Float32Array(x.length);
  for (let start = 0; start < x.length; start += size) {
    const row = x.subarray(start, start + size);
    const mean = row.reduce((total, value) => total + value, 0) / size;
    const variance = row.reduce((total, value) => total + (value - mean) ** 2, 0) / size;
    const scale = 1 / Math.sqrt(variance + config.layer_norm_eps);
    for (let d = 0; d < size; d++) out[start + d] = ((row[d] ?? 0) - mean) * scale * (weight[d] ?? 1) + (bias[d] ?? 0);
  }
  return out;
}

/** x · Φ(x), with the error function of Abramowitz and Stegun 7.1.26 (within 1.5e-7). */
function gelu(x: number): number {
  const z = Math.abs(x) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * z);
  const poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const erf = Math.sign(x) * (1 - poly * Math.exp(-z * z));
  return 0.5 * x * (1 + erf);
}

function sum(a: Float32Array, b: Float32Array): Float32Array {
  return a.map((value, i) => value + (b[i] ?? 0));
}

function meanRow(x: Float32Array, size: number): Float32Array {
  const out = new Float32Array(size);
  for (let i = 0; i < x.length; i++) out[i % size] = (out[i % size] ?? 0) + (x[i] ?? 0) / (x.length / size);
  return out;
}

function unit(x: Float32Array): Float32Array {
  const length = Math.sqrt(x.reduce((total, value) => total + value * value, 0));
  return length === 0 ? x : x.map((value) => value / length);
}
