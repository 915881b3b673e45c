/**
 * Recurrences of plain ops over sequences that lie padded beside each other: those that continue others come after them.
 *
 * S sequences, W a state's width, D that of an output.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { SequenceLayout } from './recurrence.ts';
import { gatherRows } from './rows.ts';

export interface Scanned {
  /** [S * each, D], padded. */
  readonly out: tf.Tensor2D;
  /** [S, W]; null: it wasn't asked for. */
  readonly last: tf.Tensor2D | null;
  /** Rows of a sequence in `out`. */
  readonly each: number;
}

/** Some sequences of a layout beside each other; `starts`: their states before, [S, W], null: none. */
export type Scan = (members: readonly number[], starts: tf.Tensor2D | null, keepsLast: boolean) => Scanned;

export interface InTurnOptions {
  readonly initial: tf.Tensor2D | null;
  /** Whether anybody asks for the states after all sequences. */
  readonly keepsStates: boolean;
}

/** Outputs of all packed tokens and the states after all sequences. */
export function inTurn(
  layout: SequenceLayout,
  tokens: number,
  { initial, keepsStates }: InTurnOptions,
  scan: Scan,
): { out: tf.Tensor2D; last: tf.Tensor2D } {
  const indices = layout.map((_, sequence) => sequence);
  const first = indices.filter((sequence) => layout[sequence]?.prefix === null);
  const later = indices.filter((sequence) => layout[sequence]?.prefix !== null);
  const rows = (of: readonly number[]): tf.Tensor1D => tf.tensor1d([...of], 'int32');
  const keepsFirst = keepsStates || later.length > 0;
  const one = tidied(scan)(first, initial === null ? null : gatherRows(initial, rows(first)), keepsFirst);
  if (later.length === 0) return inOrder([one], [first], layout, tokens);
  const from = later.map((sequence) => first.indexOf(layout[sequence]?.prefix ?? -1));
  const two = tidied(scan)(later, one.last && gatherRows(one.last, rows(from)), keepsStates);
  return inOrder([one, two], [first, later], layout, tokens);
}

/** The same, without what it passed through. */
function tidied(scan: Scan): Scan {
  return (...asked) => {
    let each = 0;
    const [out, last = null] = tf.tidy(() => {
      const made = scan(...asked);
      each = made.each;
      return made.last === null ? [made.out] : [made.out, made.last];
    });
    return { out: out as tf.Tensor2D, last, each };
  };
}

/** Outputs of all tokens and states of all sequences, in the order of the layout. */
function inOrder(
  parts: readonly Scanned[],
  members: readonly (readonly number[])[],
  layout: SequenceLayout,
  tokens: number,
): { out: tf.Tensor2D; last: tf.Tensor2D } {
  const places = new Int32Array(tokens).fill(-1);
  const states = new Int32Array(layout.length).fill(-1);
  let [row, state] = [0, 0];
  parts.forEach(({ each }, part) => {
    for (const sequence of members[part] ?? []) {
      const { start = 0, length = 0 } = layout[sequence] ?? {};
      for (let i = 0; i < length; i++) places[start + i] = row + i;
      states[sequence] = state;
      row += each;
      state += 1;
    }
  });
  const pick = (of: readonly tf.Tensor2D[], which: Int32Array): tf.Tensor2D =>
    gatherRows(of.length === 1 ? (of[0] as tf.Tensor2D) : tf.concat([...of], 0), tf.tensor1d(which, 'int32'));
  const lasts = parts.flatMap(({ last }) => last ?? []);
  return {
    out: pick(
      parts.map(({ out }) => out),
      places,
    ),
    last: lasts.length === parts.length ? pick(lasts, states) : tf.zeros([1, 1]),
  };
}

/** Of each padded place, the packed token; -1: none. */
export function paddedPlaces(layout: SequenceLayout, members: readonly number[], each: number): Int32Array {
  const places = new Int32Array(members.length * each).fill(-1);
  members.forEach((sequence, at) => {
    const { start = 0, length = 0 } = layout[sequence] ?? {};
    for (let i = 0; i < length; i++) places[at * each + i] = start + i;
  });
  return places;
}

/** 1 where a chunk's token i has to do with its token j, otherwise 0. [size, size] */
export function squareMask(size: number, is: (i: number, j: number) => boolean): tf.Tensor2D {
  const values = Float32Array.from({ length: size * size }, (_, at) => (is(Math.floor(at / size), at % size) ? 1 : 0));
  return tf.tensor2d(values, [size, size]);
}
