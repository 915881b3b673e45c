/**
 * A whole decoding step as one call, for backends that have one: webgpu fuses across ops (six to ten launches a layer
 * instead of some twenty), wasm and native run a list of kernels without tfjs. Others decode op by op through a `KvCache`.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { AttentionShape } from './attention.ts';
import type { DecodeLinear } from './decode-kernels.ts';
import type { DecodeList } from './decode-list.ts';
import type { PrefixKv, RowPrefix } from './kv-cache.ts';
import type { RopeTables } from './rope.ts';
import type { RowToken } from './row-places.ts';

// B rows in flight, D width, V vocabulary.

/** Attention as Llama, Qwen2 and Qwen3 have it. */
export interface PlainAttention {
  readonly q: DecodeLinear;
  readonly k: DecodeLinear;
  readonly v: DecodeLinear;
  readonly o: DecodeLinear;
  readonly qNorm: tf.Tensor1D | null;
  readonly kNorm: tf.Tensor1D | null;
}

/** A layer's mixer in a step. */
export interface DecodeMixer {
  readonly linears: readonly DecodeLinear[];
  /** Where it is nothing else, for backends that fuse across ops. */
  readonly plain: PlainAttention | null;
  /** Adds its ops to a list. h [B, D] → change [B, D] */
  record<Buffer>(list: DecodeList<Buffer>, h: Buffer, change: Buffer): void;
}

export interface DecodeLayer {
  readonly inputNorm: tf.Tensor1D;
  readonly mixer: DecodeMixer;
  readonly postNorm: tf.Tensor1D;
  readonly gate: DecodeLinear;
  readonly up: DecodeLinear;
  readonly down: DecodeLinear;
}

/** The linear layers of a decoder's layer. */
export function linearsOf({ mixer, gate, up, down }: DecodeLayer): readonly DecodeLinear[] {
  return [...mixer.linears, gate, up, down];
}

/** A decoder's weights; they must stay as they are while a run uses them. */
export interface DecodeModel {
  readonly embedding: tf.Tensor2D;
  readonly layers: readonly DecodeLayer[];
  readonly norm: tf.Tensor1D;
  readonly head: tf.Tensor2D;
  readonly rope: RopeTables;
  readonly normEps: number;
  readonly shape: AttentionShape;
  /** Of the adapter's products. */
  readonly scaling: number;
}

/** One whose layers all attend plainly. */
export interface PlainModel extends DecodeModel {
  readonly layers: readonly PlainLayer[];
}

export interface PlainLayer extends DecodeLayer, PlainAttention {}

/** Null where a layer doesn't attend plainly. */
export function plainModel(model: DecodeModel): PlainModel | null {
  const layers = model.layers.flatMap((layer) =>
    layer.mixer.plain === null ? [] : { ...layer, ...layer.mixer.plain },
  );
  return layers.length < model.layers.length ? null : { ...model, layers };
}

/** Its embedding, head and linear layers. */
export function weightsOf({ embedding, head, layers }: DecodeModel): readonly tf.Tensor2D[] {
  return [embedding, head, ...layers.flatMap(linearsOf).map(({ weight }) => weight)];
}

/** One token of each row: numbers, or where a backend left them, int32 [B]. */
export type StepIds = readonly number[] | tf.Tensor1D;

export function stepTensor(ids: StepIds): tf.Tensor1D {
  return ids instanceof tf.Tensor ? ids : tf.tensor1d([...ids], 'int32');
}

export function stepNumbers(ids: StepIds): readonly number[] {
  return ids instanceof tf.Tensor ? [...ids.dataSync()] : ids;
}

/** Rows that are being decoded; each stands at the position after its prompt and what it has written. */
export interface DecodeRun {
  /** Reads one new token of each row: logits of the next [B, V]. */
  step(ids: StepIds): tf.Tensor2D;
  /** Moves past `count` tokens without computing them, as `KvCache.skip` does. */
  skip(count: number): void;
  /** Keeps only these of the current rows. */
  keep(rows: readonly number[]): void;
  /**
   * Reads tokens of any rows, those of one row in a line; copies of the last may follow it. Logits after the `wanted` of
   * these tokens, [W, V]. Absent: rows can only be kept.
   */
  read?(tokens: readonly RowToken[], wanted: readonly number[]): tf.Tensor2D;
  /** As `KvCache.written`. */
  written?(rows: readonly number[]): PrefixKv[];
  /** States of these rows after what they have read; absent: the model has none beside keys and values. */
  states?(rows: readonly number[]): ReadonlyMap<string, tf.Tensor2D>;
  dispose(): void;
}

/** Null where the backend's kernels don't take the model's sizes; then the prompts' keys and values stay the caller's. */
export type OpenDecodeRun = (
  model: DecodeModel,
  prefix: readonly PrefixKv[],
  rows: readonly RowPrefix[],
  capacity: number,
) => DecodeRun | null;

const openers = new Map<string, OpenDecodeRun>();

/** Gives a backend a step of its own. */
export function registerDecodeRun(backendName: string, open: OpenDecodeRun): void {
  openers.set(backendName, open);
}

/** Opens a backend's own run over the prompts' keys and values, which it takes over; null where the backend has none. */
export function openDecodeRun(...[model, prefix, rows, capacity]: Parameters<OpenDecodeRun>): DecodeRun | null {
  return openers.get(tf.getBackend())?.(model, prefix, rows, capacity) ?? null;
}
