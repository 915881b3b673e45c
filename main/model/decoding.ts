/** Decoding of rows in flight: by a backend's fused step where it has one, else op by op through a cache. */
import * as tf from '@tensorflow/tfjs-core';
import { openKvCache, type PrefixKv, type RowPrefix } from '../tensor/ops/decode-attention.ts';
import { type DecodeLinear, type DecodeModel, type DecodeRun, openDecodeRun } from '../tensor/ops/decode-step.ts';
import { attentionShape, forward } from './decoder.ts';
import type { Adapter } from './lora.ts';
import { type Linear, type Model, modelParameters } from './model.ts';
import type { Parameter } from './parameter.ts';
import { isPlain } from './traits.ts';

/** Takes the prompts' keys and values over, for at most `capacity` new tokens a row. */
export function openDecoding(
  model: Model,
  adapter: Adapter | null,
  prefix: readonly PrefixKv[],
  rows: readonly RowPrefix[],
  capacity: number,
): DecodeRun {
  const plain = decodeModel(model, adapter);
  const fused = plain && openDecodeRun(plain, prefix, rows, capacity);
  return fused ?? openByOps(model, adapter, prefix, rows, capacity);
}

function openByOps(
  model: Model,
  adapter: Adapter | null,
  prefix: readonly PrefixKv[],
  rows: readonly RowPrefix[],
  capacity: number,
): DecodeRun {
  const { window, windowLayers: layers } = model.config;
  const sliding = window === null ? null : { window, layers };
  const weights = modelParameters(model).map(({ value }) => value);
  const cache = openKvCache(prefix, rows, capacity, attentionShape(model.config), sliding, weights);
  let next = rows.map(({ length }) => length);
  return {
    step: (ids) => {
      const logits = tf.tidy(() => {
        const batch = { ids: tf.tensor1d([...ids], 'int32'), positions: tf.tensor1d(next, 'int32') };
        return tf.matMul(forward(model, batch, adapter, cache.attend), model.head.value, false, true) as tf.Tensor2D;
      });
      cache.advance();
      next = next.map((position) => position + 1);
      return logits;
    },
    skip: (count) => {
      cache.skip(count);
      next = next.map((position) => position + count);
    },
    keep: (kept) => {
      cache.keep(kept);
      next = kept.map((row) => next[row] ?? 0);
    },
    ...(cache.written && { written: cache.written }),
    dispose: cache.dispose,
  };
}

/** The model as fused steps take it; null where its architecture differs in what they compute. */
function decodeModel(model: Model, adapter: Adapter | null): DecodeModel | null {
  const { config } = model;
  if (!isUniform(adapter) || !isPlain(config) || (config.window !== null && model.maxLength > config.window))
    return null;
  const linear = ({ name, weight, bias }: Linear): DecodeLinear => {
    const lora = adapter?.modules.get(name);
    return {
      weight: weight.value,
      bias: bias?.value ?? null,
      lora: lora === undefined ? null : { a: lora.a.value, b: lora.b.value },
    };
  };
  return {
    embedding: model.embedding.value,
    layers: model.layers.map((layer) => {
      const [q, k, v] = layer.qkv.map(linear) as [DecodeLinear, DecodeLinear, DecodeLinear];
      const [gate, up] = layer.gateUp.map(linear) as [DecodeLinear, DecodeLinear];
      return {
        inputNorm: (layer.attentionNorms.before as Parameter<tf.Tensor1D>).value,
        q,
        k,
        v,
        o: linear(layer.o),
        gate,
        up,
        down: linear(layer.down),
        qNorm: layer.qNorm?.value ?? null,
        kNorm: layer.kNorm?.value ?? null,
        postNorm: (layer.mlpNorms.before as Parameter<tf.Tensor1D>).value,
      };
    }),
    norm: model.norm.value,
    head: model.head.value,
    rope: model.rope.main,
    normEps: model.config.rmsNormEps,
    shape: attentionShape(model.config),
    scaling: [...(adapter?.modules.values() ?? [])][0]?.scaling ?? 0,
  };
}

/** Whether all adapted modules have one rank and one scale, as fused steps take them. */
function isUniform(adapter: Adapter | null): boolean {
  const [first, ...others] = adapter?.modules.values() ?? [];
  return others.every(({ a, scaling }) => scaling === first?.scaling && a.value.shape[0] === first.a.value.shape[0]);
}
