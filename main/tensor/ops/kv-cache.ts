/** What a cache of keys and values is, and how one takes its prompts over. */
import * as tf from '@tensorflow/tfjs-core';
import type { RowToken } from './row-places.ts';

// B rows in flight, H heads, K key/value heads, d head_dim, Np tokens of all prompts, R rows that are read, t their tokens.

/** Keys and values of one layer for all prompt tokens, [Np, K*d] each. */
export interface PrefixKv {
  readonly k: tf.Tensor2D;
  readonly v: tf.Tensor2D;
}

/** A row's range of the prompt tokens. */
export interface RowPrefix {
  readonly start: number;
  readonly length: number;
}

/** The keys and values of a generation in flight. Rows share their prompt's and keep their own for the tokens they generated. */
export interface KvCache {
  /** Adds each row's k and v [B, K*d] of the current step, unless they were added before, and attends with q [B, H*d]. */
  attend(layer: number, q: tf.Tensor2D, k: tf.Tensor2D, v: tf.Tensor2D, again?: boolean): tf.Tensor2D;
  /** Moves to the next token. */
  advance(): void;
  /** Moves past `count` tokens without computing them, for timing later steps: their keys and values are undefined. */
  skip(count: number): void;
  /** Keeps only these of the current rows. */
  keep(rows: readonly number[]): void;
  /** Whose tokens the next step holds; absent: rows can only be kept. */
  choose?(tokens: readonly RowToken[]): void;
  /** What these of the current rows have written, of each layer, row by row: [R*t, K*d]. Absent: it can't be read back. */
  written?(rows: readonly number[]): PrefixKv[];
  dispose(): void;
}

/** Layers in which a token sees only the last `window` ones, itself included. */
export interface SlidingLayers {
  readonly window: number;
  readonly layers: readonly number[];
}

/** Runs `make`; what it adds to its list doesn't outlive the first tensor that memory has no room for. */
export function allOrNone<T>(make: (made: tf.Tensor[]) => T): T {
  const made: tf.Tensor[] = [];
  try {
    return make(made);
  } catch (error) {
    tf.dispose(made);
    throw error;
  }
}

/** The prompts' keys and values as `change` makes them, added to `made`; each layer is freed as soon as it is changed. */
export function takeOver<T extends tf.Tensor>(
  prefix: readonly PrefixKv[],
  made: tf.Tensor[],
  change: (x: tf.Tensor2D) => T,
): { readonly k: T; readonly v: T }[] {
  const changed = (x: tf.Tensor2D): T => {
    const kept = tf.keep(tf.tidy(() => change(x)));
    made.push(kept);
    return kept;
  };
  return prefix.map(({ k, v }) => {
    const layer = { k: changed(k), v: changed(v) };
    tf.dispose([k, v]);
    return layer;
  });
}
