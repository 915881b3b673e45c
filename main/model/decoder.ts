/**
 * The forward pass of a decoder of Llama's kind over packed tokens: no padding anywhere. What an architecture does
 * differently is in its config (see traits.ts).
 * N tokens of all sequences one after the other, D width, H query heads, K key/value heads, d head_dim.
 */
import * as tf from '@tensorflow/tfjs-core';
import { pulse } from '../pulse.ts';
import { checkpointed } from '../tensor/gradient-checkpoint.ts';
import { type AttentionShape, packedAttention } from '../tensor/ops/attention.ts';
import { geglu } from '../tensor/ops/geglu.ts';
import { rmsNorm } from '../tensor/ops/rms-norm.ts';
import { type RopeTables, rope } from '../tensor/ops/rope.ts';
import { gatherRows } from '../tensor/ops/rows.ts';
import { swiglu } from '../tensor/ops/swiglu.ts';
import { longestSequence, windowedAttention } from '../tensor/ops/windowed-attention.ts';
import type { ModelConfig } from './config.ts';
import { type Adapter, linear } from './lora.ts';
import { blockLinears, type DecoderLayer, type Linear, layerParameters, type Model, qkvWidths } from './model.ts';
import type { Parameter } from './parameter.ts';

/** Tokens with their positions, both int32 [N]. */
export interface TokenBatch {
  readonly ids: tf.Tensor1D;
  readonly positions: tf.Tensor1D;
}

/** How a layer's queries attend to keys and values: packed for training, through a cache for generation. */
export type Attend = (layer: number, q: tf.Tensor2D, k: tf.Tensor2D, v: tf.Tensor2D) => tf.Tensor2D;

/** The attention settings that a model's shape implies. */
export function attentionShape(config: ModelConfig): AttentionShape {
  const { numHeads, numKvHeads, headDim } = config;
  return { numHeads, numKvHeads, headDim, scale: config.attentionScale ?? headDim ** -0.5 };
}

/** Attention within the segments of a packed batch (see `packedAttention`). */
export function attendPacked(config: ModelConfig, segments: tf.Tensor2D): Attend {
  const shape = attentionShape(config);
  const { window, windowLayers } = config;
  if (window === null || longestSequence(segments) <= window)
    return (_layer, q, k, v) => packedAttention(q, k, v, segments, shape);
  return (layer, q, k, v) =>
    windowLayers.includes(layer)
      ? windowedAttention(q, k, v, segments, { ...shape, window })
      : packedAttention(q, k, v, segments, shape);
}

export interface ForwardOptions {
  /** Keep only each layer's input for the gradient and recompute the rest: less memory, more time. */
  readonly checkpointing?: boolean;
}

/** Hidden states after the last norm, [N, D], scaled so that logits are hidden · headᵀ. */
export function forward(
  model: Model,
  batch: TokenBatch,
  adapter: Adapter | null,
  attend: Attend,
  { checkpointing = false }: ForwardOptions = {},
): tf.Tensor2D {
  const { config } = model;
  // As in transformers, reading the padding token doesn't train its embedding.
  const embedded = gatherRows(model.embedding.value, batch.ids, config.padTokenId ?? -1);
  let x = scaled(embedded, config.embeddingScale); // [N, D]
  model.layers.forEach((layer, index) => {
    pulse();
    const work = (input: tf.Tensor2D): tf.Tensor2D => decoderLayer(model, layer, index, input, batch, adapter, attend);
    // Tensors that the tape doesn't save are disposed at once, not at the end of the pass.
    const run = (): tf.Tensor2D => (checkpointing ? checkpointed(work, x, trainableTensors(layer, adapter)) : work(x));
    x = tf.tidy(run);
  });
  return scaled(norm(x, model.norm, config), 1 / config.logitsScale);
}

function decoderLayer(
  model: Model,
  layer: DecoderLayer,
  index: number,
  x: tf.Tensor2D,
  batch: TokenBatch,
  adapter: Adapter | null,
  attend: Attend,
): tf.Tensor2D {
  const { config } = model;
  const { attentionNorms, mlpNorms } = layer;
  const add = (residual: tf.Tensor2D, change: tf.Tensor2D): tf.Tensor2D =>
    tf.add(residual, scaled(change, config.residualScale));
  const attended = selfAttention(model, layer, index, norm(x, attentionNorms.before, config), batch, adapter, attend);
  const h = add(x, norm(attended, attentionNorms.after, config));
  const active = mlp(config, layer, norm(h, mlpNorms.before, config), adapter);
  return add(h, norm(active, mlpNorms.after, config));
}

function scaled(x: tf.Tensor2D, factor: number): tf.Tensor2D {
  return factor === 1 ? x : tf.mul(x, factor);
}

/** RMSNorm, where the architecture has it. x [N, D] */
function norm(x: tf.Tensor2D, weight: Parameter<tf.Tensor1D> | null, config: ModelConfig): tf.Tensor2D {
  if (weight === null) return x;
  const factor: tf.Tensor1D = config.unitOffset ? tf.add(weight.value, 1) : weight.value;
  return rmsNorm(x, factor, config.rmsNormEps);
}

/** A layer's trainable tensors: the adapter's matrices, or without an adapter the weights. */
function trainableTensors(layer: DecoderLayer, adapter: Adapter | null): tf.Tensor[] {
  if (adapter === null) return layerParameters(layer).map(({ value }) => value);
  return blockLinears(layer).flatMap(({ name }) => {
    const lora = adapter.modules.get(name);
    return lora === undefined ? [] : [lora.a.value, lora.b.value];
  });
}

function selfAttention(
  model: Model,
  layer: DecoderLayer,
  index: number,
  x: tf.Tensor2D,
  { positions }: TokenBatch,
  adapter: Adapter | null,
  attend: Attend,
): tf.Tensor2D {
  const { config } = model;
  const [q, k, v] = project(x, layer.qkv, qkvWidths(config), adapter) as [tf.Tensor2D, tf.Tensor2D, tf.Tensor2D];
  const tables = ropeTables(model, index);
  const rotated = (t: tf.Tensor2D, weight: Parameter<tf.Tensor1D> | null): tf.Tensor2D =>
    rotate(headNorm(t, weight, config), positions, tables, config);
  return linear(attend(index, rotated(q, layer.qNorm), rotated(k, layer.kNorm), v), layer.o, adapter); // [N, D]
}

/** Outputs of linear layers on the same x, of these widths, whether or not they are one matrix. [N, width] each */
function project(
  x: tf.Tensor2D,
  layers: readonly Linear[],
  widths: readonly number[],
  adapter: Adapter | null,
): tf.Tensor2D[] {
  const outputs = layers.map((layer) => linear(x, layer, adapter));
  const [joined] = outputs;
  return joined === undefined || outputs.length > 1 ? outputs : (tf.split(joined, [...widths], 1) as tf.Tensor2D[]);
}

/** The norm of q or k before RoPE, over each head or all of them. */
function headNorm(x: tf.Tensor2D, weight: Parameter<tf.Tensor1D> | null, config: ModelConfig): tf.Tensor2D {
  if (weight === null || config.qkNormOver === 'heads') return norm(x, weight, config);
  const [n, width] = x.shape;
  const { headDim } = config;
  return tf.reshape(norm(tf.reshape(x, [(n * width) / headDim, headDim]), weight, config), [n, width]);
}

/** A layer's tables; null: it has no RoPE. */
function ropeTables({ config, rope: { main, local } }: Model, layer: number): RopeTables | null {
  if (config.noRopeLayers.includes(layer)) return null;
  return local !== null && config.windowLayers.includes(layer) ? local : main;
}

/** RoPE on the rotated dimensions of each head, the rest as it is. x [N, h*d] → same. */
function rotate(
  x: tf.Tensor2D,
  positions: tf.Tensor1D,
  tables: RopeTables | null,
  { headDim, rotaryDim }: ModelConfig,
): tf.Tensor2D {
  if (tables === null) return x;
  if (rotaryDim === null) return rope(x, positions, tables, headDim);
  const [n, width] = x.shape;
  const rows = (n * width) / headDim;
  const [first, rest] = tf.split(tf.reshape(x, [rows, headDim]), [rotaryDim, headDim - rotaryDim], 1);
  const flat = tf.reshape<tf.Rank.R2>(first as tf.Tensor, [n, (width / headDim) * rotaryDim]);
  const rotated = tf.reshape(rope(flat, positions, tables, rotaryDim), [rows, rotaryDim]);
  return tf.reshape(tf.concat([rotated, rest as tf.Tensor], 1), [n, width]);
}

function mlp(config: ModelConfig, layer: DecoderLayer, x: tf.Tensor2D, adapter: Adapter | null): tf.Tensor2D {
  const { intermediateSize: f, activation } = config;
  const [gate, up] = project(x, layer.gateUp, [f, f], adapter) as [tf.Tensor2D, tf.Tensor2D];
  return linear(activation === 'silu' ? swiglu(gate, up) : geglu(gate, up), layer.down, adapter);
}
