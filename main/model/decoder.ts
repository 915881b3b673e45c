/**
 * The forward pass of a Llama-family decoder (Llama, Qwen2, Qwen3) over packed tokens: no padding anywhere.
 * N tokens of all sequences one after the other, D width, H query heads, K key/value heads, d head_dim.
 */
import * as tf from '@tensorflow/tfjs-core';
import { pulse } from '../pulse.ts';
import { checkpointed } from '../tensor/gradient-checkpoint.ts';
import { type AttentionShape, packedAttention } from '../tensor/ops/attention.ts';
import { rmsNorm } from '../tensor/ops/rms-norm.ts';
import { rope } from '../tensor/ops/rope.ts';
import { gatherRows } from '../tensor/ops/rows.ts';
import { swiglu } from '../tensor/ops/swiglu.ts';
import type { ModelConfig } from './config.ts';
import { type Adapter, linear } from './lora.ts';
import { blockLinears, type DecoderLayer, layerParameters, type Model } from './model.ts';
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
  return { numHeads, numKvHeads, headDim, scale: headDim ** -0.5 };
}

/** Attention within the segments of a packed batch (see `packedAttention`). */
export function attendPacked(config: ModelConfig, segments: tf.Tensor2D): Attend {
  const shape = attentionShape(config);
  return (_layer, q, k, v) => packedAttention(q, k, v, segments, shape);
}

export interface ForwardOptions {
  /** Keep only each layer's input for the gradient and recompute the rest: less memory, more time. */
  readonly checkpointing?: boolean;
}

/** Hidden states after the last norm, [N, D]; logits are hidden · headᵀ. */
export function forward(
  model: Model,
  batch: TokenBatch,
  adapter: Adapter | null,
  attend: Attend,
  { checkpointing = false }: ForwardOptions = {},
): tf.Tensor2D {
  let x = gatherRows(model.embedding.value, batch.ids); // [N, D]
  model.layers.forEach((layer, index) => {
    pulse();
    const work = (input: tf.Tensor2D): tf.Tensor2D => decoderLayer(model, layer, index, input, batch, adapter, attend);
    // Tensors that the tape doesn't save are disposed at once, not at the end of the pass.
    const run = (): tf.Tensor2D => (checkpointing ? checkpointed(work, x, trainableTensors(layer, adapter)) : work(x));
    x = tf.tidy(run);
  });
  return rmsNorm(x, model.norm.value, model.config.rmsNormEps);
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
  const h: tf.Tensor2D = tf.add(x, selfAttention(model, layer, index, x, batch, adapter, attend));
  return tf.add(h, mlp(model, layer, h, adapter)) as tf.Tensor2D;
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
  const { headDim, rmsNormEps } = model.config;
  const h = rmsNorm(x, layer.inputNorm.value, rmsNormEps);
  const q = headNorm(linear(h, layer.q, adapter), layer.qNorm, headDim, rmsNormEps); // [N, H*d]
  const k = headNorm(linear(h, layer.k, adapter), layer.kNorm, headDim, rmsNormEps); // [N, K*d]
  const v = linear(h, layer.v, adapter);
  const rotated = (t: tf.Tensor2D): tf.Tensor2D => rope(t, positions, model.rope, headDim);
  return linear(attend(index, rotated(q), rotated(k), v), layer.o, adapter); // [N, D]
}

/** Qwen3's norm over each head, before RoPE. */
function headNorm(x: tf.Tensor2D, weight: Parameter<tf.Tensor1D> | null, headDim: number, eps: number): tf.Tensor2D {
  if (weight === null) return x;
  const [n, width] = x.shape;
  return tf.reshape(rmsNorm(tf.reshape(x, [(n * width) / headDim, headDim]), weight.value, eps), [n, width]);
}

function mlp(model: Model, layer: DecoderLayer, x: tf.Tensor2D, adapter: Adapter | null): tf.Tensor2D {
  const h = rmsNorm(x, layer.postNorm.value, model.config.rmsNormEps);
  return linear(swiglu(linear(h, layer.gate, adapter), linear(h, layer.up, adapter)), layer.down, adapter);
}
