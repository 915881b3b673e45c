/** The layers of a decoding step below tfjs, and the run of such steps. They compute what decoding op by op does, to the bit. */
import type * as tf from '@tensorflow/tfjs-core';
import { inputError } from '../../errors.ts';
import type { DecodeKernels } from './decode-kernels.ts';
import { type DecodeOps, openDecodeList } from './decode-list.ts';
import { type DecodeModel, type DecodeRun, stepNumbers } from './decode-step.ts';
import type { SlotTable } from './decode-works.ts';
import { type PlacedCache, slotTable } from './placed-cache.ts';
import { openRowPlaces } from './row-places.ts';

// B rows in flight, D width, V vocabulary.

/** The layers from the embedded tokens in x [B, D] to the last norm, whose output is given back. */
export function decodeLayers<Buffer>(
  model: DecodeModel,
  x: Buffer,
  kernels: DecodeKernels<Buffer>,
  ops: DecodeOps,
): Buffer {
  const { layers, embedding } = model;
  const list = openDecodeList(model.shape, kernels, ops);
  const [, width] = embedding.shape;
  // The residual stream's norm, and what a block adds to it.
  const [h, change] = [kernels.buffer(width), kernels.buffer(width)];
  layers.forEach((layer, index) => {
    ops.begin();
    list.norm(x, layer.inputNorm, index === 0 ? null : change, h);
    layer.mixer.record(list, h, change);
    list.release();
    list.norm(x, layer.postNorm, change, h);
    const [inner] = layer.gate.weight.shape;
    const [gate, up] = [list.room(inner), list.room(inner)];
    list.linears(h, [layer.gate, gate], [layer.up, up]);
    list.swiglu(gate, up, inner);
    list.linears(gate, [layer.down, change]);
    list.release();
  });
  list.norm(x, model.norm, layers.length === 0 ? null : change, h);
  return h;
}

/** A step of certain rows. */
export interface RowsStep {
  /** Reads one token of each row, at its position. Logits of all rows or the wanted ones, [W, V] */
  run(ids: readonly number[], positions: readonly number[], wanted?: readonly number[]): tf.Tensor2D;
  free(): void;
}

/**
 * Decodes by steps that `open` makes for certain rows, again whenever they change. Owns the cache. `clear` empties
 * `count` tokens of all rows from the `first` on.
 */
export function decodeBySteps(
  model: DecodeModel,
  cache: PlacedCache,
  capacity: number,
  open: (rows: SlotTable) => RowsStep,
  clear: (first: number, count: number) => void,
): DecodeRun {
  const [vocabulary] = model.embedding.shape;
  const [positions] = model.rope.cos.shape;
  const { prompts } = cache;
  const places = openRowPlaces(prompts);
  let current: { readonly slots: readonly number[]; readonly step: RowsStep };
  // Rows that were kept have their states elsewhere.
  let isStale = false;
  const openRows = (slots: readonly number[]) => ({ slots, step: open(slotTable(slots, prompts)) });
  try {
    current = openRows(places.slots);
  } catch (error) {
    cache.dispose();
    throw error;
  }
  const positionsOf = (ids: readonly number[]): number[] => {
    const { slots } = places;
    const isKnown = ids.every((id) => id >= 0 && id < vocabulary);
    if (ids.length !== slots.length || !isKnown)
      throw inputError('INDEX_OUT_OF_RANGE', `Expected ${slots.length} ids below ${vocabulary}, got ${ids.join(', ')}`);
    const next = places.positions();
    const isWithin = (position: number, row: number): boolean =>
      position < positions && position - (prompts[slots[row] ?? 0]?.length ?? 0) < capacity;
    if (!next.every(isWithin))
      throw new RangeError(`Expected at most ${capacity} tokens a row and positions below ${positions}`);
    return next;
  };
  const step = (ids: readonly number[], wanted?: readonly number[]): tf.Tensor2D => {
    const next = positionsOf(ids);
    const { slots } = places;
    const isSame = slots.length === current.slots.length && slots.every((slot, row) => slot === current.slots[row]);
    if (isStale || !isSame) {
      const opened = openRows(slots);
      current.step.free();
      current = opened;
      isStale = false;
    }
    const logits = current.step.run(ids, next, wanted);
    places.advance();
    return logits;
  };
  return {
    step: (ids) => step(stepNumbers(ids)),
    read: (tokens, wanted) => {
      places.choose(tokens);
      return step(
        tokens.map(({ id }) => id),
        wanted,
      );
    },
    skip: (count) => {
      // Whatever lies there may be numbers that take a processor longer.
      clear(places.writtenOf(0), count);
      places.advance(count);
    },
    keep: (rows) => {
      places.keep(rows);
      isStale = true;
    },
    written: (rows) =>
      cache.written(
        rows.map((row) => places.slots[row] as number),
        places.writtenOf(rows[0] ?? 0),
      ),
    dispose: () => {
      current.step.free();
      cache.dispose();
    },
  };
}
