/**
 * Completions of several turns: between two turns of the model, tokens are added that somebody else wrote. They are read in
 * one packed pass after what is kept of the conversation. R rows, N new tokens of all rows, L kept tokens of a row, D width, V vocabulary.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { PrefixKv } from '../tensor/ops/kv-cache.ts';
import { gatherRows } from '../tensor/ops/rows.ts';
import { forward } from './decoder.ts';
import { logitsOf } from './head.ts';
import type { Adapter } from './lora.ts';
import { keepingLayers } from './mixers/index.ts';
import type { Model } from './model.ts';
import {
  type Attend,
  attendPacked,
  disposeKept,
  type Kept,
  placesOf,
  type Reading,
  type ReadRow,
  readingSequences,
} from './sequences.ts';

/** A turn of the model that has ended, by its own end token or at its limit. */
export interface EndedTurn {
  /** Which completion: prompt * G + generation. */
  readonly completion: number;
  /** Which of its turns, from 0; -1: it hasn't begun. */
  readonly turn: number;
  /** Of this turn, with its end token. */
  readonly ids: readonly number[];
  readonly terminated: boolean;
  /** Whether a stop string ended it, and no end token. */
  readonly byString?: boolean;
  /** How many tokens the completion may still have, the answer's among them. */
  readonly room: number;
}

/** The tokens that follow a turn, fewer than its room; null: the completion ends with it. */
export type TurnAnswer = readonly number[] | null;

/** Who answers the model between its turns. */
export interface TurnTaking {
  /** Maximum tokens of a turn. */
  readonly maxTurnTokens: number;
  /**
   * Whether answers may come later. Rows are decoded then so that their numbers don't depend on who is there when an
   * answer comes; without, in the fastest way.
   */
  readonly later: boolean;
  /** Whether each completion begins with an answer, to no turn. */
  readonly opens?: boolean;
  /** What follows each ended turn, at once or when it comes. */
  answer(ended: readonly EndedTurn[]): readonly (TurnAnswer | Promise<TurnAnswer>)[];
  /** Hears what turns take, in seconds. */
  readonly times?: TurnTimes;
}

export interface TurnTimes {
  /** A turn of the model, from when it could begin. */
  turn(seconds: number): void;
  /** There was nothing to decode: every row waited for its answer. */
  idle(seconds: number): void;
}

/** What rows have read so far, and what follows. */
export interface ReadContext {
  readonly kept: Kept;
  readonly rows: readonly ReadRow[];
  /** Logits after each row's last token, [R, V]. */
  readonly logits: tf.Tensor2D;
}

/** What a row is to read next, one token or more. */
export interface Unread {
  readonly row: number;
  readonly ids: readonly number[];
}

export interface TurnRows {
  /** Reads tokens of some of these rows: how many of each, and logits after the last of those that read all, [R, V]. */
  read(unread: readonly Unread[]): { readonly counts: readonly number[]; readonly logits: tf.Tensor2D | null };
  dispose(): void;
}

export interface TurnRowsOptions {
  /** Maximum tokens that a row reads after its prompt. */
  readonly capacity: number;
  /** Whether a row's numbers mustn't depend on which others read with it: on the processor's kernels to the bit. */
  readonly alone: boolean;
  /** Whether a row reads no more. */
  isDone(row: number): boolean;
}

/** Prefix tokens that are one segment of the packed pass: their queries aren't needed, and cost little that way. */
const UNREAD = 64;

/**
 * Reads new tokens of each row after what it has read before. `kept` stays the
 * caller's; `rows`: where those of each row lie in them.
 */
export function readOn(
  model: Model,
  adapter: Adapter | null,
  kept: Kept,
  rows: readonly ReadRow[],
  added: readonly (readonly number[])[],
): ReadContext {
  const before = kept.kv[0]?.k.shape[0] ?? 0;
  const fresh: Reading = { kv: [], states: new Map() };
  const places = placesOf(added.map(({ length }) => length));
  try {
    const logits = tf.tidy(() => {
      const ids = tf.tensor1d(added.flat(), 'int32');
      const positions = added.flatMap((tokens, row) => tokens.map((_, i) => (rows[row]?.length ?? 0) + i));
      const stateRows = tf.tensor1d(
        rows.map(({ sequence }) => sequence),
        'int32',
      );
      const stateOf = (key: string): tf.Tensor2D => gatherRows(kept.states.get(key) as tf.Tensor2D, stateRows);
      const attend = attendAfter(model, kept.kv, before, rows, places);
      const sequences = readingSequences(attend, places, fresh, stateOf);
      const hidden = forward(model, { ids, positions: tf.tensor1d(positions, 'int32') }, adapter, sequences); // [N, D]
      const last = places.map(({ start, length }) => start + length - 1);
      return logitsOf(model, gatherRows(hidden, tf.tensor1d(last, 'int32')));
    });
    try {
      const kv = joined(kept.kv, fresh.kv, before, rows, places);
      return { kept: { kv, states: fresh.states }, rows: joinedRows(rows, places), logits };
    } catch (error) {
      logits.dispose();
      throw error;
    }
  } catch (error) {
    tf.dispose([...fresh.states.values()]);
    throw error;
  } finally {
    disposeKept({ kv: fresh.kv, states: new Map() });
  }
}

/** Attention of new tokens to those of their row that were read before, and to each other. */
function attendAfter(
  model: Model,
  kept: readonly PrefixKv[],
  before: number,
  rows: readonly ReadRow[],
  places: readonly ReadRow[],
): Attend {
  const unread = Array.from({ length: Math.ceil(before / UNREAD) }, (_, i) => i * UNREAD);
  const table = [
    ...unread.flatMap((start) => [start, Math.min(UNREAD, before - start), 0, 0]),
    ...places.flatMap(({ start, length }, row) => {
      const prefix = rows[row] ?? { start: 0, length: 0 };
      return [before + start, length, prefix.start, prefix.length];
    }),
  ];
  const packed = attendPacked(model.config, tf.tensor2d(table, [table.length / 4, 4], 'int32'));
  const keeping = keepingLayers(model.config);
  return (layer, q, k, v, again) => {
    const { k: keys, v: values } = kept[keeping.indexOf(layer)] as PrefixKv;
    const [, width] = q.shape;
    const queries = tf.concat([tf.zeros([before, width]), q], 0) as tf.Tensor2D;
    const attended = packed(
      layer,
      queries,
      tf.concat([keys, k], 0) as tf.Tensor2D,
      tf.concat([values, v], 0) as tf.Tensor2D,
      again,
    );
    return tf.slice(attended, [before, 0], [-1, width]);
  };
}

/** Each row's kept and new tokens one after the other, where a prompt's were shared by its rows. */
function joined(
  kept: readonly PrefixKv[],
  fresh: readonly PrefixKv[],
  before: number,
  rows: readonly ReadRow[],
  places: readonly ReadRow[],
): PrefixKv[] {
  const range = (start: number, length: number): number[] => Array.from({ length }, (_, i) => start + i);
  const order = rows.flatMap(({ start, length }, row) => {
    const { start: added = 0, length: count = 0 } = places[row] ?? {};
    return [...range(start, length), ...range(before + added, count)];
  });
  const made: PrefixKv[] = [];
  try {
    kept.forEach(({ k, v }, layer) => {
      const { k: newK, v: newV } = fresh[layer] as PrefixKv;
      const join = (old: tf.Tensor2D, more: tf.Tensor2D): tf.Tensor2D =>
        tf.keep(tf.tidy(() => gatherRows(tf.concat([old, more], 0) as tf.Tensor2D, tf.tensor1d(order, 'int32'))));
      const keys = join(k, newK);
      // A cache that memory has no room for leaves nothing behind.
      made.push({ k: keys, v: keys });
      made[layer] = { k: keys, v: join(v, newV) };
    });
    return made;
  } catch (error) {
    tf.dispose(made.map(({ k, v }) => [k, v]));
    throw error;
  }
}

function joinedRows(rows: readonly ReadRow[], places: readonly ReadRow[]): ReadRow[] {
  return placesOf(rows.map(({ length }, row) => length + (places[row]?.length ?? 0)));
}
