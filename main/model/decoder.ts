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
import { isSource, layerConfig } from './layer-sizes.ts';
import { type AdaptedModules, linear, project } from './linear.ts';
import type { Adapter } from './lora.ts';
import type { KeysValues, Pass } from './mixers/mixer.ts';
import { blockLinears, type DecoderLayer, layerParameters, type Model } from './model.ts';
import { norm } from './norm.ts';
import type { Parameter } from './parameter.ts';
import { addInput, inputsOfLayers } from './per-layer-input.ts';
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
  const inputs = model.inputs && inputsOfLayers(model.inputs, config, batch.ids, x, adapter);
  const shared = new Map<number, KeysValues>();
  model.layers.forEach((layer, index) => {
    pulse();
    const own = layerConfig(config, index);
    const pass = { layer: index, config: own, rope: model.rope, positions: batch.positions, adapter, sequences };
    const gives = isSource(config, index);
    const work = (given: readonly tf.Tensor2D[]): tf.Tensor2D => decoderLayer(layer, given, pass, gives);
    const given = [x, ...(inputs?.slice(index, index + 1) ?? []), ...(shared.get(own.keysOf ?? -1) ?? [])];
    // Tensors that the tape doesn't save are disposed at once, not at the end of the pass.
    const run = () => (checkpointing ? checkpointed(work, given, trainableTensors(layer, adapter)) : work(given));
    const out = tf.tidy(run);
    if (!gives) x = out;
    else {
      const width = own.numKvHeads * own.headDim;
      const [next, k, v] = tf.split(out, [config.hiddenSize, width, width], 1) as [tf.Tensor2D, ...KeysValues];
      x = next;
      shared.set(index, [k, v]);
    }
  });
  return scaled(norm(x, model.norm, config, sequences.factors), 1 / config.logitsScale);
}

/**
 * Of the stream [N, D], the layer's own input where it has one, and keys and values where they are another layer's.
 * `gives`: its own follow the output, for later layers: [N, D + 2*K*d].
 */
function decoderLayer(
  layer: DecoderLayer,
  [stream, ...beside]: readonly tf.Tensor2D[],
  pass: Omit<Pass, 'given' | 'onKeysValues'>,
  gives: boolean,
): tf.Tensor2D {
  const { config, adapter } = pass;
  const { mixerNorms, mlpNorms } = layer;
  const x = stream as tf.Tensor2D;
  const [input, others] = layer.input === null ? [null, beside] : [beside[0] as tf.Tensor2D, beside.slice(1)];
  const given = others.length === 0 ? null : (others as unknown as KeysValues);
  const own: tf.Tensor2D[] = [];
  const onKeysValues = gives ? (made: KeysValues): unknown => own.push(...made) : null;
  const add = (residual: tf.Tensor2D, change: tf.Tensor2D): tf.Tensor2D =>
    tf.add(residual, scaled(change, config.residualScale));
  const normed = (value: tf.Tensor2D, weight: Parameter<tf.Tensor1D> | null): tf.Tensor2D =>
    norm(value, weight, config, pass.sequences.factors);
  const mixed = layer.mixer.run(normed(x, mixerNorms.before), { ...pass, given, onKeysValues });
  const h = add(x, normed(mixed, mixerNorms.after));
  const active = mlp(config, layer, normed(h, mlpNorms.before), adapter);
  const after = add(h, normed(active, mlpNorms.after));
  const whole = input === null || layer.input === null ? after : addInput(after, input, layer.input, config, adapter);
  const out: tf.Tensor2D = layer.scalar === null ? whole : tf.mul(whole, layer.scalar.value);
  return gives ? tf.concat([out, ...own], 1) : out;
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

function mlp(config: ModelConfig, layer: DecoderLayer, x: tf.Tensor2D, adapter: AdaptedModules | null): tf.Tensor2D {
  const { intermediateSize: f, activation } = config;
  const [gate, up] = project(x, layer.gateUp, [f, f], adapter) as [tf.Tensor2D, tf.Tensor2D];
  return linear(activation === 'silu' ? swiglu(gate, up) : geglu(gate, up), layer.down, adapter);
}
