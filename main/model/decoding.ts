/** Decoding of rows in flight: by a backend's fused step where it has one, else op by op through a cache. */
import * as tf from '@tensorflow/tfjs-core';
import { readsInPlace } from '../tensor/ops/decode-attention.ts';
import { type DecodeLinear, type DecodeModel, type DecodeRun, openDecodeRun } from '../tensor/ops/decode-step.ts';
import { openKvCaches } from '../tensor/ops/kv-caches.ts';
import { openRowPlaces, type RowToken } from '../tensor/ops/row-places.ts';
import { gatherRows } from '../tensor/ops/rows.ts';
import type { ModelConfig } from './config.ts';
import { forward } from './decoder.ts';
import { logitsOf } from './head.ts';
import { layerConfig } from './layer-sizes.ts';
import type { Linear } from './linear.ts';
import type { Adapter } from './lora.ts';
import type { Attention } from './mixers/attention/mixer.ts';
import { keepingLayers } from './mixers/index.ts';
import { type Model, modelParameters } from './model.ts';
import { openNormFactors } from './norm.ts';
import type { Parameter } from './parameter.ts';
import { attentionShape, type Kept, openRowStates, type ReadRow } from './sequences.ts';
import { isPlain } from './traits.ts';

/** Whether decoding can read tokens of any rows at a time, where a row has at most `longest`. */
export function readsAnyRow({ recurrent, window }: ModelConfig, longest: number): boolean {
  return readsInPlace() && recurrent === null && (window === null || longest <= window);
}

/** Takes over what was kept of the prompts, for at most `capacity` new tokens a row. */
export function openDecoding(
  model: Model,
  adapter: Adapter | null,
  kept: Kept,
  rows: readonly ReadRow[],
  capacity: number,
): DecodeRun {
  const plain = decodeModel(model, adapter);
  const fused = plain && openDecodeRun(plain, kept.kv, rows, capacity);
  return fused ?? openByOps(model, adapter, kept, rows, capacity);
}

function openByOps(
  model: Model,
  adapter: Adapter | null,
  kept: Kept,
  rows: readonly ReadRow[],
  capacity: number,
): DecodeRun {
  const { config } = model;
  const { window, windowLayers } = config;
  const keeping = keepingLayers(config);
  const places = new Map(keeping.map((layer, place) => [layer, place]));
  const placeOf = (layer: number): number => places.get(layer) ?? -1;
  const sliding = window === null ? null : { window, layers: windowLayers.map(placeOf) };
  const weights = modelParameters(model).map(({ value }) => value);
  const shapes = keeping.map((layer) => attentionShape(layerConfig(config, layer)));
  const cache = openKvCaches(kept.kv, rows, capacity, shapes, sliding, weights);
  const hasStates = kept.states.size > 0;
  const states = openStates(kept, rows, cache.dispose);
  const factors = openNormFactors();
  const sequences = {
    factors,
    attend: (layer: number, ...given: [tf.Tensor2D, tf.Tensor2D, tf.Tensor2D, boolean]) =>
      cache.attend(placeOf(layer), ...given),
    recur: states.recur,
  };
  const next = openRowPlaces(rows);
  const step = (ids: readonly number[], wanted: readonly number[] | null = null): tf.Tensor2D => {
    const logits = tf.tidy(() => {
      const batch = { ids: tf.tensor1d([...ids], 'int32'), positions: tf.tensor1d(next.positions(), 'int32') };
      const hidden = forward(model, batch, adapter, sequences);
      return logitsOf(model, wanted === null ? hidden : gatherRows(hidden, tf.tensor1d([...wanted], 'int32')));
    });
    cache.advance();
    next.advance();
    return logits;
  };
  const read = (tokens: readonly RowToken[], wanted: readonly number[]): tf.Tensor2D => {
    cache.choose?.(tokens);
    next.choose(tokens);
    return step(
      tokens.map(({ id }) => id),
      wanted,
    );
  };
  return {
    step: (ids) => step(ids),
    skip: (count) => {
      cache.skip(count);
      next.advance(count);
    },
    keep: (kept) => {
      cache.keep(kept);
      states.keep(kept);
      next.keep(kept);
    },
    ...(cache.choose && !hasStates && { read }),
    ...(cache.written && { written: cache.written }),
    ...(hasStates && { states: states.of }),
    dispose: () => {
      cache.dispose();
      states.dispose();
      factors.dispose();
    },
  };
}

/** The rows' states; a cache of keys and values doesn't outlive them. */
function openStates({ states }: Kept, rows: readonly ReadRow[], free: () => void) {
  try {
    return openRowStates(states, rows);
  } catch (error) {
    free();
    throw error;
  }
}

/** The model as fused steps take it; null where its architecture differs in what they compute. */
function decodeModel(model: Model, adapter: Adapter | null): DecodeModel | null {
  const { config } = model;
  if (!isUniform(adapter) || !isPlain(config) || model.rope.queries !== null) return null;
  if (config.window !== null && model.maxLength > config.window) return null;
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
      // Nothing but attention is plain.
      const { qkv, o, qNorm, kNorm } = layer.mixer as Attention;
      const [q, k, v] = qkv.map(linear) as [DecodeLinear, DecodeLinear, DecodeLinear];
      const [gate, up] = layer.gateUp.map(linear) as [DecodeLinear, DecodeLinear];
      return {
        inputNorm: (layer.mixerNorms.before as Parameter<tf.Tensor1D>).value,
        q,
        k,
        v,
        o: linear(o),
        gate,
        up,
        down: linear(layer.down),
        qNorm: qNorm?.value ?? null,
        kNorm: kNorm?.value ?? null,
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
