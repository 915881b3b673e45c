/**
 * Rows that are decoded together and come and go. Every `ROOM` tokens all keys and values are put one row after the other
 * and decoding is opened on them again; only then may others join. A row's numbers therefore don't depend on the others,
 * on the processor's kernels to the bit: attention adds up a row's keys in parts that end at the same tokens whoever else
 * is there, and as products add up in another order for few rows, there are never fewer than `LEAST_ROWS`.
 * B rows, N tokens, D width, V vocabulary.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { PrefixKv, RowPrefix } from '../tensor/ops/decode-attention.ts';
import type { DecodeRun } from '../tensor/ops/decode-step.ts';
import { gatherRows } from '../tensor/ops/rows.ts';
import { openDecoding } from './decoding.ts';
import type { Adapter } from './lora.ts';
import type { Model } from './model.ts';
import { readOn } from './turns.ts';

/** On wasm, up to five rows are dot products, which add up otherwise. */
const LEAST_ROWS = 6;
/** And from here on other kernels, where a product is as short as an adapter's rank. */
export const MOST_ROWS = 16;
/** More keep those waiting that want to join, fewer copy more often. */
const ROOM = 32;

export interface RowsInFlight {
  /** How many there are. */
  readonly size: number;
  /** Whether others may join before the next token. */
  readonly isOpen: boolean;
  /** Adds `count` rows after the others, which continue a prompt; takes its keys and values over. */
  join(prompt: readonly PrefixKv[], count: number): void;
  /** Reads one new token of each row: logits of the next [B, V]. */
  step(ids: readonly number[]): tf.Tensor2D;
  /** Keeps only these of the current rows. */
  keep(rows: readonly number[]): void;
  dispose(): void;
}

interface State {
  /** Keys and values up to where decoding was opened, in which rows may share theirs. */
  readonly kv: readonly PrefixKv[];
  readonly rows: readonly RowPrefix[];
  /** What each row has read since. */
  readonly read: readonly (readonly number[])[];
}

const NOTHING: State = { kv: [], rows: [], read: [] };

export function openRowsInFlight(model: Model, adapter: Adapter | null): RowsInFlight {
  let state = NOTHING;
  /** Decoding of the rows, and where each is among those that are decoded: copies of one fill up to the least. */
  let open: { readonly run: DecodeRun; readonly places: readonly number[]; readonly all: number } | null = null;
  const steps = (): number => state.read[0]?.length ?? 0;

  function close(): void {
    open?.run.dispose();
    open = null;
  }

  /** Everything read so far as keys and values that belong to nobody else. */
  function gathered(): State {
    const { kv, rows, read } = state;
    const count = steps();
    if (open === null || count === 0) return state;
    const { run, places, all } = open;
    if (run.written === undefined) {
      const { kv: joined, rows: next, logits } = readOn(model, adapter, kv, rows, read);
      logits.dispose();
      return { kv: joined, rows: next, read: rows.map(() => []) };
    }
    if (places.length < all) {
      run.keep(places);
      open = { run, places: range(0, places.length), all: places.length };
    }
    const written = run.written();
    try {
      const before = kv[0]?.k.shape[0] ?? 0;
      const order = rows.flatMap(({ start, length }, row) => [
        ...range(start, length),
        ...range(before + row * count, count),
      ]);
      const joined = regrouped([kv, written], order);
      return { kv: joined, rows: placed(rows.map(({ length }) => length + count)), read: rows.map(() => []) };
    } finally {
      disposeKv(written);
    }
  }

  /** Ends decoding; what it has read is kept. */
  function settle(): void {
    const next = gathered();
    close();
    if (next !== state) disposeKv(state.kv);
    state = next;
  }

  /** Decoding on what was read so far. */
  function reopen(): NonNullable<typeof open> {
    settle();
    const { rows } = state;
    const [first = { start: 0, length: 0 }] = rows;
    const filled = [...rows, ...Array.from({ length: Math.max(0, LEAST_ROWS - rows.length) }, () => first)];
    const kept = state.kv.map(({ k, v }) => ({ k: tf.keep(tf.clone(k)), v: tf.keep(tf.clone(v)) }));
    try {
      const run = openDecoding(model, adapter, kept, filled, ROOM);
      open = { run, places: range(0, rows.length), all: filled.length };
      return open;
    } catch (error) {
      disposeKv(kept);
      throw error;
    }
  }

  return {
    get size() {
      return state.rows.length;
    },
    get isOpen() {
      return steps() === 0 || steps() === ROOM;
    },
    join: (prompt, count) => {
      try {
        settle();
        const { kv, rows, read } = state;
        const before = kv[0]?.k.shape[0] ?? 0;
        const length = prompt[0]?.k.shape[0] ?? 0;
        const joined = before === 0 ? prompt : regrouped([kv, prompt], range(0, before + length));
        disposeKv(kv);
        if (joined !== prompt) disposeKv(prompt);
        const own = Array.from({ length: count }, () => ({ start: before, length }));
        state = { kv: joined, rows: [...rows, ...own], read: [...read.map(() => []), ...own.map(() => [])] };
      } catch (error) {
        disposeKv(prompt);
        throw error;
      }
    },
    step: (ids) => {
      const current = open === null || steps() === ROOM ? reopen() : open;
      const { run, places, all } = current;
      const given = Array.from({ length: all }, () => ids[0] ?? 0);
      places.forEach((place, row) => {
        given[place] = ids[row] ?? 0;
      });
      const logits = run.step(given);
      state = { ...state, read: state.read.map((read, row) => [...read, ids[row] ?? 0]) };
      const isWhole = all === places.length && places.every((place, row) => place === row);
      if (isWhole) return logits;
      try {
        return tf.tidy(() => gatherRows(logits, tf.tensor1d([...places], 'int32')));
      } finally {
        logits.dispose();
      }
    },
    keep: (kept) => {
      const { kv, rows, read } = state;
      const pick = <T>(list: readonly T[]): T[] => kept.flatMap((row) => list.slice(row, row + 1));
      if (kept.length === 0) {
        close();
        disposeKv(kv);
        state = NOTHING;
        return;
      }
      state = { kv, rows: pick(rows), read: pick(read) };
      if (open === null) return;
      const { run } = open;
      const places = pick(open.places);
      // A row that fills up is one that stays: what has ended would go on beyond its limit.
      const missing = run.written === undefined ? 0 : Math.max(0, LEAST_ROWS - places.length);
      const left = [...places, ...Array.from({ length: missing }, () => places[0] ?? 0)];
      run.keep(left);
      open = { run, places: range(0, places.length), all: left.length };
    },
    dispose: () => {
      close();
      disposeKv(state.kv);
      state = NOTHING;
    },
  };
}

function range(start: number, length: number): number[] {
  return Array.from({ length }, (_, i) => start + i);
}

/** Ranges of these lengths, one after the other. */
function placed(lengths: readonly number[]): RowPrefix[] {
  let total = 0;
  return lengths.map((length) => {
    total += length;
    return { start: total - length, length };
  });
}

function disposeKv(kv: readonly PrefixKv[]): void {
  tf.dispose(kv.map(({ k, v }) => [k, v]));
}

/** Tokens of several keys and values, counted through all of them, in this order. */
function regrouped(sources: readonly (readonly PrefixKv[])[], order: readonly number[]): PrefixKv[] {
  const layers = sources[0]?.length ?? 0;
  const made: tf.Tensor2D[] = [];
  const part = (layer: number, which: 'k' | 'v'): tf.Tensor2D => {
    const parts = sources.flatMap((source) => source.slice(layer, layer + 1).map(({ [which]: x }) => x));
    const all = tf.keep(tf.tidy(() => gatherRows(tf.concat(parts, 0), tf.tensor1d([...order], 'int32'))));
    made.push(all);
    return all;
  };
  try {
    return range(0, layers).map((layer) => ({ k: part(layer, 'k'), v: part(layer, 'v') }));
  } catch (error) {
    tf.dispose(made);
    throw error;
  }
}
