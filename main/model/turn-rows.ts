/**
 * Rows of completions of several turns. Each reads tokens when there are some, its own and those of whoever answers it, and
 * meanwhile stays where it is: its keys and values lie where they were written. R rows, V vocabulary.
 */
import * as tf from '@tensorflow/tfjs-core';
import { roundsProducts } from '../tensor/compute-dtype.ts';
import type { RowToken } from '../tensor/ops/row-places.ts';
import { gatherRows } from '../tensor/ops/rows.ts';
import { openCopiedRows } from './copied-rows.ts';
import { openDecoding, readsAnyRow } from './decoding.ts';
import type { Adapter } from './lora.ts';
import { type Model, modelLinears } from './model.ts';
import type { Kept, ReadRow } from './sequences.ts';
import type { TurnRows, TurnRowsOptions } from './turns.ts';

/** On wasm, up to five rows are dot products, which add up otherwise. */
const LEAST_TOKENS = 6;
/** For up to so many tokens all products add up alike; those of at most this length in float32, for any number. */
const MOST_ALIKE = 32;
const ALIKE_LENGTH = 576;
/** What a step makes on its way stays small. */
const MOST_TOKENS = 256;

/** Opens rows after what was read of prompts, which it takes over. */
export function openTurnRows(
  model: Model,
  adapter: Adapter | null,
  kept: Kept,
  rows: readonly ReadRow[],
  options: TurnRowsOptions,
): TurnRows {
  const longest = Math.max(...rows.map(({ length }) => length)) + options.capacity;
  const open = readsAnyRow(model.config, longest) ? openPlacedRows : openCopiedRows;
  return open(model, adapter, kept, rows, options);
}

function openPlacedRows(
  model: Model,
  adapter: Adapter | null,
  kept: Kept,
  rows: readonly ReadRow[],
  { capacity, alone }: TurnRowsOptions,
): TurnRows {
  const { read, dispose } = openDecoding(model, adapter, kept, rows, capacity);
  const [least, most] = alone ? [LEAST_TOKENS, mostAlike(model)] : [1, MOST_TOKENS];
  return {
    read: (unread) => {
      // Each reads one token before any reads more.
      let room = most - unread.length;
      const counts = unread.map(({ ids }, i) => {
        const more = Math.max(0, Math.min(ids.length - 1, room));
        room -= more;
        return i < most ? 1 + more : 0;
      });
      const tokens: RowToken[] = [];
      const ends: number[] = [];
      unread.forEach(({ row, ids }, i) => {
        const some = ids.slice(0, counts[i]);
        tokens.push(...some.map((id, ahead) => ({ row, id, ahead })));
        if (some.length === ids.length) ends.push(tokens.length - 1);
      });
      if (read === undefined) throw new Error('Expected decoding that reads any rows');
      const logits = read(filled(tokens, least), filled(ends.length === 0 ? [0] : ends, least));
      if (ends.length > 0) return { counts, logits: logitsOf(logits, ends.length) };
      logits.dispose();
      return { counts, logits: null };
    },
    dispose,
  };
}

/** With copies of the last, so that there are at least so many. */
function filled<T>(list: readonly T[], least: number): T[] {
  return [...list, ...Array.from({ length: least - list.length }, () => list.slice(-1)).flat()];
}

/** The first of these, which are freed. */
function logitsOf(logits: tf.Tensor2D, count: number): tf.Tensor2D {
  if (logits.shape[0] === count) return logits;
  try {
    return tf.tidy(() => gatherRows(logits, tf.range(0, count, 1, 'int32')));
  } finally {
    logits.dispose();
  }
}

/** Tokens of a step in which each token's numbers are the same whatever the others are. */
function mostAlike(model: Model): number {
  const lengths = [...modelLinears(model).map(({ weight }) => weight.value.shape[1]), model.config.hiddenSize];
  return Math.max(...lengths) <= ALIKE_LENGTH && !roundsProducts() ? MOST_TOKENS : MOST_ALIKE;
}
