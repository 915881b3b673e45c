/**
 * The forward pass of a decoder of Llama's kind over packed tokens: no padding anywhere. What an architecture does
 * differently is in its config (see traits.ts). N tokens of all sequences one after the other, D width.
 */
import * as tf from '@tensorflow/tfjs-core';
import { pulse } from '../pulse.ts';
import { checkpointed } from '../tensor/gradient-checkpoint.ts';
import { geglu } from '../tensor/ops/geglu.ts';
import { gatherRows } from '../tensor/ops/rows.ts';
import { swiglu } from '../tensor/ops/swiglu.ts';
import type { ModelConfig } from './config.ts';
import { linear, project } from './linear.ts';
import type { Adapter } from './lora.ts';
import { blockLinears, type DecoderLayer, layerParameters, type Model } from './model.ts';
import { norm } from './norm.ts';
import type { Sequences } from './sequences.ts';

/** Tokens with their positions, both int32 [N]. */
export interface TokenBatch {
  readonly ids: tf.Tensor1D;
  readonly positions: tf.Tensor1D;
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
  sequences: Sequences,
  { checkpointing = false }: ForwardOptions = {},
): tf.Tensor2D {
  const { config } = model;
  // As in transformers, reading the padding token doesn't train its embedding.
  const embedded = gatherRows(model.embedding.value, batch.ids, config.padTokenId ?? -1);
  let x = scaled(embedded, config.embeddingScale); // [N, D]
  model.layers.forEach((layer, index) => {
    pulse();
    const work = (input: tf.Tensor2D): tf.Tensor2D =>
      decoderLayer(model, layer, index, input, batch, adapter, sequences);
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
  sequences: Sequences,
): tf.Tensor2D {
  const { config } = model;
  const { mixerNorms, mlpNorms } = layer;
  const add = (residual: tf.Tensor2D, change: tf.Tensor2D): tf.Tensor2D =>
    tf.add(residual, scaled(change, config.residualScale));
  const pass = { layer: index, config, rope: model.rope, positions: batch.positions, adapter, sequences };
  const mixed = layer.mixer.run(norm(x, mixerNorms.before, config), pass);
  const h = add(x, norm(mixed, mixerNorms.after, config));
  const active = mlp(config, layer, norm(h, mlpNorms.before, config), adapter);
  return add(h, norm(active, mlpNorms.after, config));
}

function scaled(x: tf.Tensor2D, factor: number): tf.Tensor2D {
  return factor === 1 ? x : tf.mul(x, factor);
}

/** A layer's trainable tensors: the adapter's matrices, or without an adapter the weights. */
function trainableTensors(layer: DecoderLayer, adapter: Adapter | null): tf.Tensor[] {
  if (adapter === null) return layerParameters(layer).map(({ value }) => value);
  return blockLinears(layer).flatMap(({ name }) => {
    const lora = adapter.modules.get(name);
    return lora === undefined ? [] : [lora.a.value, lora.b.value];
  });
}

function mlp(config: ModelConfig, layer: DecoderLayer, x: tf.Tensor2D, adapter: Adapter | null): tf.Tensor2D {
  const { intermediateSize: f, activation } = config;
  const [gate, up] = project(x, layer.gateUp, [f, f], adapter) as [tf.Tensor2D, tf.Tensor2D];
  return linear(activation === 'silu' ? swiglu(gate, up) : geglu(gate, up), layer.down, adapter);
}
