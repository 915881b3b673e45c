/**
 * Rows that are decoded together and come and go. Every `ROOM` tokens all keys and values are put one row after the other
 * and decoding is opened on them again; only then may others join. A row's numbers therefore don't depend on the others,
 * on the processor's kernels to the bit: attention adds up a row's keys in parts that end at the same tokens whoever else
 * is there, and as products add up in another order for few rows, there are never fewer than `LEAST_ROWS`.
 * B rows, N tokens, D width, V vocabulary.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { PrefixKv } from '../tensor/ops/decode-attention.ts';
import type { DecodeRun } from '../tensor/ops/decode-step.ts';
import { gatherRows } from '../tensor/ops/rows.ts';
import { openDecoding } from './decoding.ts';
import type { Adapter } from './lora.ts';
import type { Model } from './model.ts';
import { cloneKept, disposeKept, type Kept, placesOf, type ReadRow } from './sequences.ts';
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
  /** Adds `count` rows after the others, which continue a prompt; takes over what was kept of it. */
  join(prompt: Kept, count: number): void;
  /** Reads one new token of each row: logits of the next [B, V]. */
  step(ids: readonly number[]): tf.Tensor2D;
  /** Keeps only these of the current rows. */
  keep(rows: readonly number[]): void;
  dispose(): void;
}

interface State {
  /** What was read up to where decoding was opened, in which rows may share theirs. */
  readonly kept: Kept;
  readonly rows: readonly ReadRow[];
  /** What each row has read since. */
  readonly read: readonly (readonly number[])[];
}

const NOTHING: State = { kept: { kv: [], states: new Map() }, rows: [], read: [] };

export function openRowsInFlight(model: Model, adapter: Adapter | null): RowsInFlight {
  let state = NOTHING;
  /** Decoding of the rows, and where each is among those that are decoded: copies of one fill up to the least. */
  let open: { readonly run: DecodeRun; readonly places: readonly number[]; readonly all: number } | null = null;
  const steps = (): number => state.read[0]?.length ?? 0;

  function close(): void {
    open?.run.dispose();
    open = null;
  }

  /** Everything read so far, in tensors that belong to nobody else. */
  function gathered(): State {
    const { kept, rows, read } = state;
    const count = steps();
    if (open === null || count === 0) return state;
    const { run, places, all } = open;
    if (run.written === undefined) {
      const { kept: joined, rows: next, logits } = readOn(model, adapter, kept, rows, read);
      logits.dispose();
      return { kept: joined, rows: next, read: rows.map(() => []) };
    }
    if (places.length < all) {
      run.keep(places);
      open = { run, places: range(0, places.length), all: places.length };
    }
    const written = run.written();
    try {
      const before = tokensOf(kept);
      const order = rows.flatMap(({ start, length }, row) => [
        ...range(start, length),
        ...range(before + row * count, count),
      ]);
      const joined = { kv: regrouped([kept.kv, written], order), states: new Map<string, tf.Tensor2D>() };
      return { kept: joined, rows: placesOf(rows.map(({ length }) => length + count)), read: rows.map(() => []) };
    } finally {
      disposeKv(written);
    }
  }

  /** Ends decoding; what it has read is kept. */
  function settle(): void {
    const next = gathered();
    close();
    if (next !== state) disposeKept(state.kept);
    state = next;
  }

  /** Decoding on what was read so far. */
  function reopen(): NonNullable<typeof open> {
    settle();
    const { rows } = state;
    const [first = { start: 0, length: 0, sequence: 0 }] = rows;
    const filled = [...rows, ...Array.from({ length: Math.max(0, LEAST_ROWS - rows.length) }, () => first)];
    const kept = cloneKept(state.kept);
    try {
      const run = openDecoding(model, adapter, kept, filled, ROOM);
      open = { run, places: range(0, rows.length), all: filled.length };
      return open;
    } catch (error) {
      disposeKept(kept);
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
        const { kept, rows, read } = state;
        const [before, length] = [tokensOf(kept), tokensOf(prompt)];
        const sequence = sequencesOf(kept);
        const joined = rows.length === 0 ? prompt : together(kept, prompt);
        disposeKept(kept);
        if (joined !== prompt) disposeKept(prompt);
        const own = Array.from({ length: count }, () => ({ start: before, length, sequence }));
        state = { kept: joined, rows: [...rows, ...own], read: [...read.map(() => []), ...own.map(() => [])] };
      } catch (error) {
        disposeKept(prompt);
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
    keep: (which) => {
      const { kept, rows, read } = state;
      const pick = <T>(list: readonly T[]): T[] => which.flatMap((row) => list.slice(row, row + 1));
      if (which.length === 0) {
        close();
        disposeKept(kept);
        state = NOTHING;
        return;
      }
      state = { kept, rows: pick(rows), read: pick(read) };
      if (open === null) return;
      const { run } = open;
      const places = pick(open.places);
      // A row that fills up is one that stays: what has ended would continue beyond its limit.
      const missing = run.written === undefined ? 0 : Math.max(0, LEAST_ROWS - places.length);
      const left = [...places, ...Array.from({ length: missing }, () => places[0] ?? 0)];
      run.keep(left);
      open = { run, places: range(0, places.length), all: left.length };
    },
    dispose: () => {
      close();
      disposeKept(state.kept);
      state = NOTHING;
    },
  };
}

function range(start: number, length: number): number[] {
  return Array.from({ length }, (_, i) => start + i);
}

/** Tokens whose keys and values are kept. */
function tokensOf({ kv }: Kept): number {
  return kv[0]?.k.shape[0] ?? 0;
}

/** Sequences whose states are kept. */
function sequencesOf({ states }: Kept): number {
  const [first] = states.values();
  return first?.shape[0] ?? 0;
}

/** What was kept of both, in tensors of its own: the second's tokens and sequences after the first's. */
function together(first: Kept, second: Kept): Kept {
  const kv = regrouped([first.kv, second.kv], range(0, tokensOf(first) + tokensOf(second)));
  const states = new Map<string, tf.Tensor2D>();
  try {
    for (const [key, state] of first.states)
      states.set(key, tf.keep(tf.tidy(() => tf.concat([state, second.states.get(key) as tf.Tensor2D], 0))));
    return { kv, states };
  } catch (error) {
    disposeKept({ kv, states });
    throw error;
  }
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
