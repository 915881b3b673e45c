/** Recurrences over packed sequences: what a mixer with a state of its own is made of. */
import * as tf from '@tensorflow/tfjs-core';
import { runOp } from '../portable.ts';

/** A sequence among the packed tokens. */
export interface SequencePlace {
  readonly start: number;
  readonly length: number;
  /** Which sequence of the layout it continues; null: none. */
  readonly prefix: number | null;
}

export type SequenceLayout = readonly SequencePlace[];

/** N packed tokens, S sequences, B rows in flight, W a state's width. */
export interface Cell {
  /**
   * All sequences at once, from their prefix's state, or their own `initial` one [S, W], or none. `last`: the state after
   * each sequence, [S, W]; undefined where `keepsStates` is false.
   */
  packed(
    inputs: readonly tf.Tensor2D[],
    layout: SequenceLayout,
    initial: tf.Tensor2D | null,
    keepsStates?: boolean,
  ): { readonly out: tf.Tensor2D; readonly last: tf.Tensor2D };
  /** One token a row, [B, …]; state [B, W], which may be changed in place and is then returned. */
  step(inputs: readonly tf.Tensor2D[], state: tf.Tensor2D): { readonly out: tf.Tensor2D; readonly state: tf.Tensor2D };
}

/** The sequences of a segment table, as `packedAttention` takes it: a prefix is a whole other segment. */
export function layoutOf(table: ArrayLike<number>): SequenceLayout {
  const count = table.length / 4;
  const at = (row: number, column: number): number => table[4 * row + column] ?? 0;
  const byStart = new Map<number, number>();
  for (let row = 0; row < count; row++) if (at(row, 1) > 0) byStart.set(at(row, 0), row);
  return Array.from({ length: count }, (_, row) => {
    const prefixLength = at(row, 3);
    const prefix = prefixLength === 0 ? null : (byStart.get(at(row, 2)) ?? null);
    if (prefixLength > 0 && (prefix === null || at(prefix, 1) !== prefixLength))
      throw new Error('Expected a prefix to be a segment of its own');
    return { start: at(row, 0), length: at(row, 1), prefix };
  });
}

/**
 * Puts x into the memory of `target` where the backend has a kernel for that. States that moved with every token would
 * leave holes in glibc's heap, which has no room for an aligned block where one of the same size was.
 */
export function overwritten(target: tf.Tensor2D, x: tf.Tensor2D): boolean {
  if (tf.getKernel('Overwrite', tf.getBackend()) === undefined) return false;
  runOp<tf.Tensor>('Overwrite', { target, x }).dispose();
  return true;
}

/** log(1 + e^x), without an overflow. */
export function softplus(x: tf.Tensor2D): tf.Tensor2D {
  const [above, below] = [tf.maximum(x, 0), tf.minimum(x, 0)];
  return tf.add(above, tf.log(tf.add(1, tf.exp(tf.sub(below, above)))));
}
