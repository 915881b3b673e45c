/**
 * Rows that are decoded together and come and go. Every so many tokens all keys and values are put one row after the other
 * and decoding is opened on them again; then others may join. With the defaults a row's numbers don't depend on the others,
 * on the processor's kernels to the bit: rows only join when decoding is opened again, every `ROOM` tokens, so attention
 * adds up a row's keys in parts that end at the same tokens whoever else is there; and as products add up in another order
 * for few rows, there are never fewer than `LEAST_ROWS`. B rows, N tokens, D width, V vocabulary.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { DecodeRun } from '../tensor/ops/decode-step.ts';
import type { PrefixKv } from '../tensor/ops/kv-cache.ts';
import { gatherRows, onlyRows } from '../tensor/ops/rows.ts';
import { openDecoding } from './decoding.ts';
import type { Adapter } from './lora.ts';
import type { Model } from './model.ts';
import { cloneKept, disposeKept, type Kept, NOWHERE, placesOf, type ReadRow } from './sequences.ts';
import { readOn } from './turns.ts';

/** On wasm, up to five rows are dot products, which add up otherwise. */
const LEAST_ROWS = 6;
/** And from here on other kernels, where a product is as short as an adapter's rank. */
export const MOST_ROWS = 16;
/** More keep those waiting that want to join, fewer copy more often. */
const ROOM = 32;

/** What was read of one sequence, and how many rows continue it. */
export interface Joining {
  readonly kept: Kept;
  readonly count: number;
}

export interface RowsInFlight {
  /** How many there are. */
  readonly size: number;
  /** Tokens that each row has read since decoding was opened. */
  readonly steps: number;
  /** Whether others may join before the next token without a change of anybody's numbers. */
  readonly isOpen: boolean;
  /** Adds rows after the others; takes over what was kept of them. */
  join(joining: readonly Joining[]): void;
  /** Reads one new token of each row: logits of the next [B, V]. */
  step(ids: readonly number[]): tf.Tensor2D;
  /** What each of these rows has read, for it to join again later; the rows stay. */
  keptOf(rows: readonly number[]): Kept[];
  /** Keeps only these of the current rows. */
  keep(rows: readonly number[]): void;
  dispose(): void;
}

export interface FlightOptions {
  /** Tokens that rows read before decoding is opened again, when it is opened. */
  readonly room?: () => number;
  /** Copies of a row fill up to so many. */
  readonly least?: number;
}

interface State {
  /** What was read up to where decoding was opened, in which rows may share theirs. */
  readonly kept: Kept;
  readonly rows: readonly ReadRow[];
  /** What each row has read since. */
  readonly read: readonly (readonly number[])[];
}

/** Decoding of the rows, and where each is among those that are decoded: copies of one fill up to the least. */
interface Decoding {
  readonly run: DecodeRun;
  readonly places: readonly number[];
  readonly all: number;
  readonly room: number;
}

const NOTHING: State = { kept: { kv: [], states: new Map() }, rows: [], read: [] };

export function openRowsInFlight(
  model: Model,
  adapter: Adapter | null,
  { room = () => ROOM, least = LEAST_ROWS }: FlightOptions = {},
): RowsInFlight {
  let state = NOTHING;
  let open: Decoding | null = null;
  const steps = (): number => state.read[0]?.length ?? 0;
  const isFull = (): boolean => open !== null && steps() === open.room;

  function close(): void {
    open?.run.dispose();
    open = null;
  }

  /** What these rows have read, in tensors that belong to nobody else, followed by what was kept of others. */
  function gathered(which: readonly number[], others: readonly Kept[]): Kept {
    const { kept, rows, read } = state;
    const count = steps();
    const places = which.map((row) => rows[row] ?? NOWHERE);
    if (open === null || count === 0) return together(kept, null, places, 0, null, others);
    const { run } = open;
    const own = which.map((row) => open?.places[row] ?? 0);
    if (run.written === undefined) {
      const again = which.map((row) => read[row] ?? []);
      const { kept: joined, rows: all, logits } = readOn(model, adapter, kept, places, again);
      logits.dispose();
      if (others.length === 0) return joined;
      try {
        return together(joined, null, all, 0, null, others);
      } finally {
        disposeKept(joined);
      }
    }
    const written = run.written(own);
    try {
      return together(kept, written, places, count, run.states?.(own) ?? null, others);
    } finally {
      disposeKv(written);
    }
  }

  /** Ends decoding; what it has read is kept, with those that join. */
  function settle(joining: readonly Joining[]): void {
    const { rows, read } = state;
    if (steps() === 0 && joining.length === 0) {
      close();
      return;
    }
    const kept = gathered(
      [...rows.keys()],
      joining.map((one) => one.kept),
    );
    close();
    disposeKept(state.kept);
    const lengths = rows.map(({ length }, row) => length + (read[row]?.length ?? 0));
    const own = placesOf(lengths);
    const taken = placesOf([...lengths, ...joining.map((one) => tokensOf(one.kept))]).slice(rows.length);
    const joined = joining.flatMap(({ count }, i) => Array.from({ length: count }, () => taken[i] ?? NOWHERE));
    state = { kept, rows: [...own, ...joined], read: [...rows, ...joined].map(() => []) };
  }

  /** Decoding on what was read so far. */
  function reopen(): Decoding {
    settle([]);
    const { rows } = state;
    const [first = NOWHERE] = rows;
    const filled = [...rows, ...Array.from({ length: Math.max(0, least - rows.length) }, () => first)];
    const kept = cloneKept(state.kept);
    try {
      const tokens = room();
      const run = openDecoding(model, adapter, kept, filled, tokens);
      open = { run, places: range(0, rows.length), all: filled.length, room: tokens };
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
    get steps() {
      return steps();
    },
    get isOpen() {
      return steps() === 0 || isFull();
    },
    join: (joining) => {
      const [only, more] = joining;
      if (only !== undefined && more === undefined && state.rows.length === 0) {
        const row = { start: 0, length: tokensOf(only.kept), sequence: 0 };
        const rows = Array.from({ length: only.count }, () => row);
        state = { kept: only.kept, rows, read: rows.map(() => []) };
        return;
      }
      try {
        settle(joining);
      } finally {
        for (const { kept } of joining) disposeKept(kept);
      }
    },
    step: (ids) => {
      const current = open === null || isFull() ? reopen() : open;
      const { run, places, all } = current;
      const given = Array.from({ length: all }, () => ids[0] ?? 0);
      places.forEach((place, row) => {
        given[place] = ids[row] ?? 0;
      });
      const logits = run.step(given);
      state = { ...state, read: state.read.map((read, row) => [...read, ids[row] ?? 0]) };
      return onlyRows(logits, places);
    },
    keptOf: (which) => {
      if (which.length === 0) return [];
      // Gathered once for all: to gather a row takes all keys and values together.
      const all = gathered(which, []);
      if (which.length === 1) return [all];
      try {
        return apart(
          all,
          which.map((row) => (state.rows[row]?.length ?? 0) + steps()),
        );
      } finally {
        disposeKept(all);
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
      const missing = Math.max(0, least - places.length);
      const left = [...places, ...Array.from({ length: missing }, () => places[0] ?? 0)];
      run.keep(left);
      open = { ...open, places: range(0, places.length), all: left.length };
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

/**
 * Rows one after the other, each with what was kept of it and the `count` tokens that it has written since, then the
 * others; all in new tensors. `states`: of the rows, where they have changed since.
 */
function together(
  kept: Kept,
  written: readonly PrefixKv[] | null,
  rows: readonly ReadRow[],
  count: number,
  states: ReadonlyMap<string, tf.Tensor2D> | null,
  others: readonly Kept[],
): Kept {
  const before = tokensOf(kept);
  const order = rows.flatMap(({ start, length }, row) => [
    ...range(start, length),
    ...range(before + row * count, count),
  ]);
  const more = others.reduce((sum, one) => sum + tokensOf(one), 0);
  const sources = [kept.kv, ...(written === null ? [] : [written]), ...others.map(({ kv }) => kv)];
  try {
    const joined = joinedStates(kept, rows, states, others);
    try {
      const from = written === null ? before : before + rows.length * count;
      const used = sources.filter(({ length }) => length > 0);
      return { kv: regrouped(used, [...order, ...range(from, more)]), states: joined };
    } catch (error) {
      tf.dispose([...joined.values()]);
      throw error;
    }
  } finally {
    tf.dispose([...(states?.values() ?? [])]);
  }
}

/** States of rows, as they are now or as they were kept, then those of the others, a row each. */
function joinedStates(
  kept: Kept,
  rows: readonly ReadRow[],
  now: ReadonlyMap<string, tf.Tensor2D> | null,
  others: readonly Kept[],
): ReadonlyMap<string, tf.Tensor2D> {
  const keys = [...(rows.length > 0 ? kept : (others[0] ?? kept)).states.keys()];
  const joined = new Map<string, tf.Tensor2D>();
  const own = (key: string): tf.Tensor2D =>
    now?.get(key) ?? gatherRows(kept.states.get(key) as tf.Tensor2D, tf.tensor1d(sequencesOf(rows), 'int32'));
  try {
    for (const key of keys) {
      const all = tf.tidy(() => {
        const parts = others.map(({ states }) => states.get(key) as tf.Tensor2D);
        return tf.concat(rows.length > 0 ? [own(key), ...parts] : parts, 0);
      });
      joined.set(key, tf.keep(all));
    }
    return joined;
  } catch (error) {
    tf.dispose([...joined.values()]);
    throw error;
  }
}

/** Rows that lie one after the other, each by itself in new tensors. */
export function apart({ kv, states }: Kept, lengths: readonly number[]): Kept[] {
  const made: tf.Tensor2D[] = [];
  const part = (x: tf.Tensor2D, start: number, length: number): tf.Tensor2D => {
    // A slice of tfjs's wasm backend copies all of x.
    const own = tf.keep(tf.tidy(() => gatherRows(x, tf.tensor1d(range(start, length), 'int32'))));
    made.push(own);
    return own;
  };
  try {
    return placesOf(lengths).map(({ start, length }, row) => ({
      kv: kv.map(({ k, v }) => ({ k: part(k, start, length), v: part(v, start, length) })),
      states: new Map([...states].map(([key, x]) => [key, part(x, row, 1)])),
    }));
  } catch (error) {
    tf.dispose(made);
    throw error;
  }
}

function sequencesOf(rows: readonly ReadRow[]): number[] {
  return rows.map(({ sequence }) => sequence);
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
