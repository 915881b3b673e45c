/**
 * Rows of completions of several turns where decoding only reads a token of every row at a time (windows, recurrent layers,
 * GPUs): a row that waits leaves, with a copy of what was kept of it, and joins the others again. Short answers are
 * read token by token with the others, longer ones in one pass.
 */
import * as tf from '@tensorflow/tfjs-core';
import { gatherRows } from '../tensor/ops/rows.ts';
import type { Adapter } from './lora.ts';
import type { Model } from './model.ts';
import { apart, type Joining, openRowsInFlight } from './rows-in-flight.ts';
import { cloneKept, disposeKept, type Kept, type ReadRow } from './sequences.ts';
import { readOn, type TurnRows, type TurnRowsOptions, type Unread } from './turns.ts';

/** At most so many tokens are read where the row is decoded: they cost what as many of the model's do. */
const SHORT = 48;
/** Tokens after which others may join where rows needn't wait for it, unless as many wait as are decoded. */
const PATIENCE = 16;
/** Rows that are decoded together where their numbers mustn't depend on each other: other products add up differently. */
const MOST_ROWS = 48;

/** Opens them after what was read of prompts, which it takes over. */
export function openCopiedRows(
  model: Model,
  adapter: Adapter | null,
  kept: Kept,
  rows: readonly ReadRow[],
  { capacity, alone, isDone }: TurnRowsOptions,
): TurnRows {
  const prompts = new Map(rows.map(({ sequence, length }) => [sequence, length]));
  const lengths = [...prompts.keys()].sort((a, b) => a - b).map((sequence) => prompts.get(sequence) ?? 0);
  const ofPrompts = parted(kept, lengths);
  const left = rows.map(() => capacity);
  const apartOf = new Map<number, Kept>();
  /** In their order in flight. */
  let decoded: number[] = [];
  const room = (): number => Math.max(...decoded.map((row) => left[row] ?? 0));
  const flight = openRowsInFlight(model, adapter, alone ? {} : { least: 1, room });

  function leave(asked: ReadonlyMap<number, readonly number[]>): void {
    const stays = (row: number): boolean => (asked.get(row)?.length ?? Number.POSITIVE_INFINITY) <= SHORT;
    const places = [...decoded.keys()];
    const staying = places.filter((place) => stays(decoded[place] ?? 0));
    if (staying.length === decoded.length) return;
    const leaving = places.filter((place) => !staying.includes(place) && !isDone(decoded[place] ?? 0));
    const copies = flight.keptOf(leaving);
    leaving.forEach((place, i) => {
      const copy = copies[i];
      if (copy !== undefined) apartOf.set(decoded[place] ?? 0, copy);
    });
    flight.keep(staying);
    decoded = staying.flatMap((place) => decoded.slice(place, place + 1));
  }

  function joining(unread: readonly Unread[]): readonly Unread[] {
    const ready = unread.filter(({ row }) => !decoded.includes(row));
    const isOpen = alone ? flight.isOpen : flight.steps >= PATIENCE || ready.length >= decoded.length;
    if (decoded.length > 0 && !isOpen) return [];
    return ready.slice(0, alone ? MOST_ROWS - decoded.length : ready.length);
  }

  /** Those that join, and how many tokens were read of each. */
  function join(some: readonly Unread[]): ReadonlyMap<number, number> {
    const counts = new Map<number, number>();
    const all: Joining[] = [];
    try {
      for (let at = 0; at < some.length; ) {
        const { row, ids } = some[at] as Unread;
        const prompt = rows[row]?.sequence;
        const isNew = (other: Unread): boolean =>
          !apartOf.has(other.row) && rows[other.row]?.sequence === prompt && other.ids.length <= SHORT;
        const own = apartOf.get(row) ?? cloneKept(ofPrompts[prompt ?? 0] as Kept);
        const end = isNew({ row, ids }) ? some.findIndex((other, i) => i > at && !isNew(other)) : at + 1;
        apartOf.delete(row);
        const read = ids.length > SHORT ? readAll(own, ids.slice(0, -1)) : own;
        if (read !== own) counts.set(row, ids.length - 1);
        const next = end < 0 ? some.length : end;
        all.push({ kept: read, count: next - at });
        at = next;
      }
    } catch (error) {
      for (const one of all) disposeKept(one.kept);
      throw error;
    }
    flight.join(all);
    decoded.push(...some.map(({ row }) => row));
    return counts;
  }

  /** Reads tokens in one pass after what was kept, which is freed. */
  function readAll(own: Kept, ids: readonly number[]): Kept {
    try {
      const row = { start: 0, length: own.kv[0]?.k.shape[0] ?? 0, sequence: 0 };
      const read = readOn(model, adapter, own, [row], [ids]);
      read.logits.dispose();
      return read.kept;
    } finally {
      disposeKept(own);
    }
  }

  return {
    read: (unread) => {
      const asked = new Map(unread.map(({ row, ids }) => [row, ids]));
      leave(asked);
      const some = joining(unread);
      const before = some.length > 0 ? join(some) : new Map<number, number>();
      const logits = flight.step(decoded.map((row) => asked.get(row)?.[before.get(row) ?? 0] ?? 0));
      for (const row of decoded) left[row] = (left[row] ?? 0) - 1 - (before.get(row) ?? 0);
      const counts = unread.map(({ row }) => (decoded.includes(row) ? 1 + (before.get(row) ?? 0) : 0));
      const whole = unread.flatMap(({ row, ids }, i) => (counts[i] === ids.length ? [decoded.indexOf(row)] : []));
      try {
        if (whole.length === 0) return { counts, logits: null };
        return { counts, logits: tf.tidy(() => gatherRows(logits, tf.tensor1d(whole, 'int32'))) };
      } finally {
        logits.dispose();
      }
    },
    dispose: () => {
      flight.dispose();
      for (const one of [...ofPrompts, ...apartOf.values()]) disposeKept(one);
    },
  };
}

/** What was kept of each prompt; takes over what was kept of all. */
function parted(kept: Kept, lengths: readonly number[]): Kept[] {
  if (lengths.length === 1) return [kept];
  try {
    return apart(kept, lengths);
  } finally {
    disposeKept(kept);
  }
}
