/**
 * How the tokens of a pass belong to sequences, and what is kept of sequences that were read: keys and values of layers
 * that attend, states of layers that recur.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { AttentionShape } from '../tensor/ops/attention.ts';
import { packedAttention } from '../tensor/ops/attention.ts';
import type { PrefixKv, RowPrefix } from '../tensor/ops/kv-cache.ts';
import { type Cell, layoutOf, overwritten, type SequenceLayout } from '../tensor/ops/recurrence.ts';
import { gatherRows } from '../tensor/ops/rows.ts';
import { longestSequence, windowedAttention } from '../tensor/ops/windowed-attention.ts';
import type { ModelConfig } from './config.ts';
import { layerConfig } from './layer-sizes.ts';
import type { NormFactors } from './norm.ts';

/**
 * How queries attend to a layer's keys and values: packed for training, through a cache for generation. `again`: those
 * of another layer to the same keys and values.
 */
export type Attend = (layer: number, q: tf.Tensor2D, k: tf.Tensor2D, v: tf.Tensor2D, again: boolean) => tf.Tensor2D;

/** The state `slot` of a layer goes through a cell. [N, …] each → [N, …] */
export type Recur = (layer: number, slot: number, cell: Cell, inputs: readonly tf.Tensor2D[]) => tf.Tensor2D;

export interface Sequences {
  readonly attend: Attend;
  readonly recur: Recur;
  /** Where many passes follow one another with the same weights. */
  readonly factors?: NormFactors;
}

/** What is kept of sequences that were read. */
export interface Kept {
  /** Of the layers that attend, in their order. */
  readonly kv: readonly PrefixKv[];
  /** Of layers that recur, by `stateKey`: a row a sequence. */
  readonly states: ReadonlyMap<string, tf.Tensor2D>;
}

/** Where what was read of a row lies: its range of keys and values, and its row of states. */
export interface ReadRow extends RowPrefix {
  readonly sequence: number;
}

/** Of no tokens. */
export const NOWHERE: ReadRow = { start: 0, length: 0, sequence: 0 };

export function stateKey(layer: number, slot: number): string {
  return `${layer}.${slot}`;
}

/** Frees what was kept. */
export function disposeKept({ kv, states }: Kept): void {
  tf.dispose([kv.map(({ k, v }) => [k, v]), [...states.values()]]);
}

/** Another handle on what was kept, for one that takes it over. */
export function cloneKept({ kv, states }: Kept): Kept {
  const clone = (x: tf.Tensor2D): tf.Tensor2D => tf.keep(tf.clone(x));
  return {
    kv: kv.map(({ k, v }) => ({ k: clone(k), v: clone(v) })),
    states: new Map([...states].map(([key, state]) => [key, clone(state)])),
  };
}

/** Places of sequences of these lengths one after the other. */
export function placesOf(lengths: readonly number[]): ReadRow[] {
  let total = 0;
  return lengths.map((length, sequence) => {
    total += length;
    return { start: total - length, length, sequence };
  });
}

/** The attention settings that a layer's shape implies. */
export function attentionShape(config: ModelConfig): AttentionShape {
  const { numHeads, numKvHeads, headDim } = config;
  return { numHeads, numKvHeads, headDim, scale: config.attentionScale ?? headDim ** -0.5 };
}

/** Attention within the segments of a packed batch (see `packedAttention`). */
export function attendPacked(config: ModelConfig, segments: tf.Tensor2D): Attend {
  const shape = (layer: number): AttentionShape => attentionShape(layerConfig(config, layer));
  const { window, windowLayers } = config;
  if (window === null || longestSequence(segments) <= window)
    return (layer, q, k, v) => packedAttention(q, k, v, segments, shape(layer));
  return (layer, q, k, v) =>
    windowLayers.includes(layer)
      ? windowedAttention(q, k, v, segments, { ...shape(layer), window })
      : packedAttention(q, k, v, segments, shape(layer));
}

/** The sequences of a packed batch: completions continue their prompt. */
export function packedSequences(config: ModelConfig, segments: tf.Tensor2D): Sequences {
  const layout = lazy(() => layoutOf(segments.dataSync<'int32'>()));
  return {
    attend: attendPacked(config, segments),
    recur: (_layer, _slot, cell, inputs) => cell.packed(inputs, layout(), null, false).out,
  };
}

/** What is kept while sequences are read; `kept` holds it as it grows, so that it can be freed after a failure. */
export interface Reading {
  readonly kv: PrefixKv[];
  readonly states: Map<string, tf.Tensor2D>;
}

/**
 * Sequences that are read for later. `attend` attends as their keys and values allow; `before`: the states that they
 * continue from, one a sequence.
 */
export function readingSequences(
  attend: Attend,
  places: readonly RowPrefix[],
  kept: Reading,
  before: ((key: string) => tf.Tensor2D) | null = null,
): Sequences {
  const layout: SequenceLayout = places.map(({ start, length }) => ({ start, length, prefix: null }));
  return {
    attend: (layer, q, k, v, again) => {
      if (!again) kept.kv.push({ k: tf.keep(k), v: tf.keep(v) });
      return attend(layer, q, k, v, again);
    },
    recur: (layer, slot, cell, inputs) => {
      const key = stateKey(layer, slot);
      const { out, last } = cell.packed(inputs, layout, before?.(key) ?? null);
      kept.states.set(key, tf.keep(last));
      return out;
    },
  };
}

/** The states of rows in flight. */
export interface RowStates {
  readonly recur: Recur;
  /** A state as it is until rows leave, [B, W], for who changes it in place. */
  at(layer: number, slot: number): tf.Tensor2D;
  /** Copies of these rows' states. */
  of(rows: readonly number[]): ReadonlyMap<string, tf.Tensor2D>;
  /** Keeps only these of the current rows. */
  keep(rows: readonly number[]): void;
  dispose(): void;
}

/** Takes states over, a copy for each row: each is freed once it is copied, as all of both may not fit. */
export function openRowStates(states: Kept['states'], rows: readonly ReadRow[]): RowStates {
  const own = new Map<string, tf.Tensor2D>();
  const pick = (x: tf.Tensor2D, which: readonly number[]): tf.Tensor2D =>
    tf.keep(tf.tidy(() => gatherRows(x, tf.tensor1d([...which], 'int32'))));
  const replace = (key: string, made: tf.Tensor2D): void => {
    own.get(key)?.dispose();
    own.set(key, made);
  };
  const dispose = (): void => tf.dispose([...own.values()]);
  try {
    const sequences = rows.map(({ sequence }) => sequence);
    for (const [key, state] of states) {
      own.set(key, pick(state, sequences));
      state.dispose();
    }
  } catch (error) {
    dispose();
    throw error;
  }
  const at = (layer: number, slot: number): tf.Tensor2D => {
    const state = own.get(stateKey(layer, slot));
    if (state === undefined) throw new Error(`There is no state ${stateKey(layer, slot)}`);
    return state;
  };
  return {
    recur: (layer, slot, cell, inputs) => {
      const before = at(layer, slot);
      const { out, state } = cell.step(inputs, before);
      if (state !== before && !overwritten(before, state)) replace(stateKey(layer, slot), tf.keep(state));
      return out;
    },
    at,
    of: (wanted) => {
      const copies = new Map<string, tf.Tensor2D>();
      try {
        for (const [key, state] of own) copies.set(key, pick(state, wanted));
        return copies;
      } catch (error) {
        tf.dispose([...copies.values()]);
        throw error;
      }
    },
    keep: (kept) => {
      for (const [key, state] of own) replace(key, pick(state, kept));
    },
    dispose,
  };
}

function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
