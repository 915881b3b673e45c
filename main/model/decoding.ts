/** Decoding of rows in flight: by a backend's list of kernels or fused step where it has one, else op by op through a cache. */
import * as tf from '@tensorflow/tfjs-core';
import { readsInPlace } from '../tensor/ops/decode-attention.ts';
import type { DecodeLinear } from '../tensor/ops/decode-kernels.ts';
import {
  type DecodeLayer,
  type DecodeModel,
  type DecodeRun,
  openDecodeRun,
  type StepIds,
  stepTensor,
} from '../tensor/ops/decode-step.ts';
import { openKvCaches } from '../tensor/ops/kv-caches.ts';
import { openRowPlaces, type RowToken } from '../tensor/ops/row-places.ts';
import { gatherRows } from '../tensor/ops/rows.ts';
import type { ModelConfig } from './config.ts';
import { forward } from './decoder.ts';
import { logitsOf } from './head.ts';
import { layerConfig } from './layer-sizes.ts';
import type { Linear } from './linear.ts';
import type { Adapter } from './lora.ts';
import { keepingLayers } from './mixers/index.ts';
import { type Model, modelParameters } from './model.ts';
import { type NormFactors, openNormFactors } from './norm.ts';
import type { Parameter } from './parameter.ts';
import { attentionShape, type Kept, openRowStates, type ReadRow, type RowStates } from './sequences.ts';
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
  const states = openRowStates(kept.states, rows);
  const factors = openNormFactors();
  const free = (): void => {
    states.dispose();
    factors.dispose();
  };
  try {
    const listed = decodeModel(model, adapter, states, factors);
    const below = listed && openDecodeRun(listed, kept.kv, rows, capacity);
    const run = below ?? openByOps(model, adapter, kept.kv, rows, capacity, { states, factors });
    return {
      ...run,
      // Those that stay are copied, and found where they then are when the steps of fewer rows are laid out.
      keep: (which) => {
        states.keep(which);
        run.keep(which);
      },
      ...(kept.states.size > 0 && { states: states.of }),
      dispose: () => {
        run.dispose();
        free();
      },
    };
  } catch (error) {
    free();
    throw error;
  }
}

/** What a run has of its rows and weights, which outlives it. */
interface Held {
  readonly states: RowStates;
  readonly factors: NormFactors;
}

function openByOps(
  model: Model,
  adapter: Adapter | null,
  kv: Kept['kv'],
  rows: readonly ReadRow[],
  capacity: number,
  { states, factors }: Held,
): DecodeRun {
  const { config } = model;
  const { window, windowLayers } = config;
  const keeping = keepingLayers(config);
  const placeOf = placesAmong(keeping);
  const sliding = window === null ? null : { window, layers: windowLayers.map(placeOf) };
  const weights = modelParameters(model).map(({ value }) => value);
  const shapes = keeping.map((layer) => attentionShape(layerConfig(config, layer)));
  const cache = openKvCaches(kv, rows, capacity, shapes, sliding, weights);
  const sequences = {
    factors,
    attend: (layer: number, ...given: [tf.Tensor2D, tf.Tensor2D, tf.Tensor2D, boolean]) =>
      cache.attend(placeOf(layer), ...given),
    recur: states.recur,
  };
  const next = openRowPlaces(rows);
  const step = (ids: StepIds, wanted: readonly number[] | null = null): tf.Tensor2D => {
    const logits = tf.tidy(() => {
      const batch = { ids: stepTensor(ids), positions: tf.tensor1d(next.positions(), 'int32') };
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
    keep: (which) => {
      cache.keep(which);
      next.keep(which);
    },
    ...(cache.choose && config.recurrent === null && { read }),
    ...(cache.written && { written: cache.written }),
    dispose: cache.dispose,
  };
}

/** Of a layer, which of these it is; -1: none. */
function placesAmong(layers: readonly number[]): (layer: number) => number {
  const places = new Map(layers.map((layer, place) => [layer, place]));
  return (layer) => places.get(layer) ?? -1;
}

/** The model as a list of kernels or fused steps take it; null where its architecture differs in what they compute. */
function decodeModel(
  model: Model,
  adapter: Adapter | null,
  states: RowStates,
  factors: NormFactors,
): DecodeModel | null {
  const { config } = model;
  if (!isUniform(adapter) || !isPlain(config)) return null;
  if (config.window !== null && model.maxLength > config.window) return null;
  const placeOf = placesAmong(keepingLayers(config));
  const factor = (weight: Parameter<tf.Tensor1D>): tf.Tensor1D =>
    config.unitOffset ? factors.of(weight) : weight.value;
  const linear = ({ name, weight, bias }: Linear): DecodeLinear => {
    const lora = adapter?.modules.get(name);
    return {
      weight: weight.value,
      bias: bias?.value ?? null,
      lora: lora === undefined ? null : { a: lora.a.value, b: lora.b.value },
    };
  };
  const layers = model.layers.flatMap((layer, index): DecodeLayer[] => {
    const state = (slot: number): tf.Tensor2D => states.at(index, slot);
    const given = { layer: index, place: placeOf(index), config, rope: model.rope, linear, factor, state };
    const mixer = layer.mixer.step(given);
    if (mixer === null) return [];
    const [gate, up] = layer.gateUp.map(linear) as [DecodeLinear, DecodeLinear];
    return [
      {
        inputNorm: factor(layer.mixerNorms.before as Parameter<tf.Tensor1D>),
        mixer,
        postNorm: factor(layer.mlpNorms.before as Parameter<tf.Tensor1D>),
        gate,
        up,
        down: linear(layer.down),
      },
    ];
  });
  if (layers.length < model.layers.length) return null;
  return {
    embedding: model.embedding.value,
    layers,
    norm: factor(model.norm),
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
