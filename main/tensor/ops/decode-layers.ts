/**
 * The layers of a decoding step on a backend's own buffers, for backends that run them below tfjs: each buffer is taken
 * once and no tensor is made on the way. They compute what decoding op by op does, to the bit.
 */
import type * as tf from '@tensorflow/tfjs-core';
import { inputError } from '../../errors.ts';
import type { KernelWork } from '../op-costs.ts';
import { type PlacedCache, slotTable } from './decode-attention.ts';
import type { DecodeLayer, DecodeLinear, DecodeModel, DecodeRun } from './decode-step.ts';
import { openRowPlaces } from './row-places.ts';

// B rows in flight, D width, F inner width of the MLP, H query heads, K key/value heads, d head_dim, V vocabulary.

/** What a step writes on its way. */
export interface DecodeBuffers<Buffer> {
  /** The residual stream, its norm, and what a block adds to it. [B, D] */
  readonly x: Buffer;
  readonly h: Buffer;
  readonly change: Buffer;
  /** [B, H*d] */
  readonly q: Buffer;
  readonly attended: Buffer;
  /** [B, K*d] */
  readonly k: Buffer;
  readonly v: Buffer;
  /** [B, F]; SwiGLU writes into the first. */
  readonly gate: Buffer;
  readonly up: Buffer;
}

/** How many columns each has. */
export function bufferWidths({ embedding, layers, shape }: DecodeModel): DecodeBuffers<number> {
  const [, width] = embedding.shape;
  const inner = layers[0]?.gate.weight.shape[0] ?? 0;
  const [queries, keys] = [shape.numHeads * shape.headDim, shape.numKvHeads * shape.headDim];
  return {
    x: width,
    h: width,
    change: width,
    gate: inner,
    up: inner,
    q: queries,
    attended: queries,
    k: keys,
    v: keys,
  };
}

/** Buffers of these widths. */
export function makeBuffers<Buffer>(
  widths: DecodeBuffers<number>,
  make: (columns: number) => Buffer,
): DecodeBuffers<Buffer> {
  const entries = Object.entries(widths).map(([name, columns]) => [name, make(columns)]);
  return Object.fromEntries(entries) as unknown as DecodeBuffers<Buffer>;
}

/** A backend's kernels on its buffers. */
export interface DecodeKernels<Buffer> {
  /** h = norm(x), of x + change where there is one, which x then is. */
  norm(weight: tf.Tensor1D, change: Buffer | null): void;
  /** y = x·Wᵀ, with its bias and adapter. */
  linear(x: Buffer, layer: DecodeLinear, y: Buffer): void;
  /** The norm of the heads of q or k, in place. */
  headNorm(of: 'q' | 'k', weight: tf.Tensor1D): void;
  /** RoPE of q or k, in place. */
  rope(x: Buffer, width: number): void;
  /** Attention of q over the caches of a layer, to which it adds k and v. */
  attention(layer: number): void;
  /** gate = silu(gate) · up */
  swiglu(): void;
}

/** How a backend runs the ops of a step. */
export interface DecodeOps {
  readonly table: SlotTable;
  /** Of each row's token. */
  positions(): ArrayLike<number>;
  /** Runs parts of which none reads what another writes. `works` describes them to a profile. */
  op(works: () => readonly KernelWork[], ...parts: readonly (() => void)[]): void;
  /** Called before each layer. */
  begin(): void;
}

/** The layers from the embedded tokens in x to the last norm, whose output is in h. */
export function decodeLayers<Buffer>(
  model: DecodeModel,
  { h, change, q, k, v, attended, gate, up }: DecodeBuffers<Buffer>,
  kernels: DecodeKernels<Buffer>,
  { table, positions, op, begin }: DecodeOps,
): void {
  const { layers } = model;
  const rows = table.length / 3;
  const widths = bufferWidths(model);
  const norm = (weight: tf.Tensor1D, added: Buffer | null): void =>
    op(
      () => normWorks(rows, weight, added !== null),
      () => kernels.norm(weight, added),
    );
  const linears = (x: Buffer, ...pairs: readonly (readonly [layer: DecodeLinear, y: Buffer])[]): void => {
    const works = () =>
      linearWorks(
        rows,
        pairs.map(([layer]) => layer),
      );
    op(
      works,
      ...pairs.map(
        ([layer, y]) =>
          () =>
            kernels.linear(x, layer, y),
      ),
    );
  };
  layers.forEach(({ qNorm, kNorm, ...layer }: DecodeLayer, index) => {
    begin();
    norm(layer.inputNorm, index === 0 ? null : change);
    linears(h, [layer.q, q], [layer.k, k], [layer.v, v]);
    if (qNorm !== null && kNorm !== null)
      op(
        () => [rowsWork('RmsNorm', rows, widths.q + widths.k, qNorm, kNorm)],
        () => kernels.headNorm('q', qNorm),
        () => kernels.headNorm('k', kNorm),
      );
    op(
      () => [ropeWork(model, rows)],
      () => kernels.rope(q, widths.q),
      () => kernels.rope(k, widths.k),
    );
    op(
      () => [attentionWork(model, table, positions())],
      () => kernels.attention(index),
    );
    linears(attended, [layer.o, change]);
    norm(layer.postNorm, change);
    linears(h, [layer.gate, gate], [layer.up, up]);
    op(
      () => [pairWork('SwiGlu', rows, widths.gate)],
      () => kernels.swiglu(),
    );
    linears(gate, [layer.down, change]);
  });
  norm(model.norm, layers.length === 0 ? null : change);
}

/** A step of certain rows. */
export interface RowsStep {
  /** Reads one token of each row, at its position. Logits of all rows or the wanted ones, [W, V] */
  run(ids: readonly number[], positions: readonly number[], wanted?: readonly number[]): tf.Tensor2D;
  free(): void;
}

/** The rows of a step: of each the slot, and its prompt's start and length. */
export type SlotTable = readonly number[];

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
    if (slots.length !== current.slots.length || slots.some((slot, row) => slot !== current.slots[row])) {
      const opened = openRows(slots);
      current.step.free();
      current = opened;
    }
    const logits = current.step.run(ids, next, wanted);
    places.advance();
    return logits;
  };
  return {
    step: (ids) => step(ids),
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
    keep: places.keep,
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

// The ops as a profile reports them, as if they were those of tfjs.

const info = (...shape: number[]): tf.TensorInfo => ({ dataId: {}, shape, dtype: 'float32' });

/** An op that treats rows one by one; `more` is what it reads beside them. */
export function rowsWork(name: string, rows: number, width: number, ...more: readonly tf.TensorInfo[]): KernelWork {
  const inputs = Object.fromEntries([info(rows, width), ...more].map((tensor, i) => [`x${i}`, tensor]));
  return { name, inputs, outputs: [info(rows, width)], attrs: {}, values: () => [] };
}

/** A norm, with the addition before it where there is one. */
function normWorks(rows: number, weight: tf.Tensor1D, adds: boolean): KernelWork[] {
  const norm = rowsWork('RmsNorm', rows, weight.size, weight);
  return adds ? [pairWork('Add', rows, weight.size), norm] : [norm];
}

/** RoPE of the queries and the keys, as two ops. */
function ropeWork({ shape, rope }: DecodeModel, rows: number): KernelWork {
  const width = (shape.numHeads + shape.numKvHeads) * shape.headDim;
  return rowsWork('Rope', rows, width, rope.cos, rope.sin, rope.cos, rope.sin);
}

/** The sum or the product of two matrices of one size. */
function pairWork(name: string, rows: number, width: number): KernelWork {
  return rowsWork(name, rows, width, info(rows, width));
}

/** Linear layers on the same rows, with their biases. */
function linearWorks(rows: number, layers: readonly DecodeLinear[]): KernelWork[] {
  return layers.flatMap(({ weight, bias, lora }) => [
    productWork(rows, weight, lora),
    ...(bias === null ? [] : [rowsWork('Add', rows, weight.shape[0], bias)]),
  ]);
}

/** x·Wᵀ, with an adapter where there is one. */
export function productWork(rows: number, weight: tf.Tensor2D, lora: DecodeLinear['lora'] = null): KernelWork {
  const [out, width] = weight.shape;
  const outputs = [info(rows, out)];
  if (lora === null) {
    const inputs = { a: info(rows, width), b: info(out, width) };
    return { name: 'BatchMatMul', inputs, outputs, attrs: { transposeB: true }, values: () => [] };
  }
  const inputs = { x: info(rows, width), weight: info(out, width), a: lora.a, b: lora.b };
  return { name: 'LoraLinear', inputs, outputs, attrs: {}, values: () => [] };
}

/** Attention of these rows at their positions. */
function attentionWork({ shape }: DecodeModel, table: SlotTable, positions: ArrayLike<number>): KernelWork {
  const rows = table.length / 3;
  const out = info(rows, shape.numHeads * shape.headDim);
  const inputs = { q: out, rows: { ...info(rows, 3), dtype: 'int32' as const } };
  const values = (input: string): ArrayLike<number> => (input === 'rows' ? table : positions);
  return { name: 'DecodeAttention', inputs, outputs: [out], attrs: { ...shape }, values };
}
