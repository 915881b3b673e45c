/**
 * A decoding step as one list of jobs. It computes what decoding op by op does, to the bit: norm; q, k and v; rotation;
 * attention; output; residual and norm; gate and up; SwiGLU; down; residual and the next norm.
 */
import * as tf from '@tensorflow/tfjs-core';
import { inputError } from '../../errors.ts';
import { observed } from '../kernel-profile.ts';
import { ADD_TO_ROWS } from '../kernels/ids.ts';
import type { KernelWork } from '../op-costs.ts';
import { type PlacedCache, type PrefixKv, placeCache, type RowPrefix, slotTable } from '../ops/decode-attention.ts';
import type { DecodeLayer, DecodeLinear, DecodeModel, DecodeRun } from '../ops/decode-step.ts';
import { fitsHeads } from './attention.ts';
import { decodeAttentionAt, decodePlan } from './decode-attention.ts';
import type { Heap } from './heap.ts';
import { type JobList, type JobRecorder, recordJobs } from './job-list.ts';
import { linearAt } from './lora-linear.ts';
import { rmsNormAt } from './rms-norm.ts';
import { ropeAt } from './rope.ts';
import { gatherRowsAt } from './rows.ts';
import type { WasmRuntime } from './runtime.ts';
import { swiGluAt } from './swiglu.ts';

// B rows in flight, D width, F inner width of the MLP, H query heads, K key/value heads, d head_dim, V vocabulary.

/** Elements of a tile of the kernels that treat rows one by one. */
const ROW_TILE = 2048;

/** Opens a run over the prompts' keys and values; null where the kernels don't take the model's heads. */
export function openWasmDecodeRun(
  runtime: WasmRuntime,
  model: DecodeModel,
  prefix: readonly PrefixKv[],
  prompts: readonly RowPrefix[],
  capacity: number,
): DecodeRun | null {
  if (!fitsHeads(model.shape)) return null;
  const room = (shape: readonly number[]): tf.Tensor =>
    tf.engine().makeTensorFromTensorInfo(runtime.heap.output(shape, 'float32'));
  const cache = placeCache(prefix, prompts, capacity, model.shape, room);
  try {
    return openRun(runtime, model, cache, capacity);
  } catch (error) {
    cache.dispose();
    throw error;
  }
}

/** The run owns the cache. */
function openRun(runtime: WasmRuntime, model: DecodeModel, cache: PlacedCache, capacity: number): DecodeRun {
  const { heap } = runtime;
  const [vocabulary] = model.embedding.shape;
  const [positions] = model.rope.cos.shape;
  let slots = cache.prompts.map((_, slot) => slot);
  let step = 0;
  let current = recordStep(runtime, model, cache, slots, capacity);

  const place = (ids: readonly number[]): void => {
    const next = slots.map((slot) => (cache.prompts[slot]?.length ?? 0) + step);
    const isKnown = ids.every((id) => id >= 0 && id < vocabulary);
    if (ids.length !== slots.length || !isKnown)
      throw inputError('INDEX_OUT_OF_RANGE', `Expected ${slots.length} ids below ${vocabulary}, got ${ids.join(', ')}`);
    if (step >= capacity || next.some((position) => position >= positions))
      throw new RangeError(`Expected at most ${capacity} tokens a row and positions below ${positions}`);
    heap.i32(current.ids, ids.length).set(ids);
    heap.i32(current.positions, ids.length).set(next);
    heap.i32(current.step, 1)[0] = step;
  };

  return {
    step: (ids) => {
      place(ids);
      current.jobs.run();
      step++;
      return logitsOf(runtime, model, current.hidden, ids.length);
    },
    skip: (count) => {
      // Whatever lies there may be numbers that take a processor longer.
      for (const { own } of cache.layers) for (const tensor of [own.k, own.v]) clearTokens(heap, tensor, step, count);
      step += count;
    },
    keep: (rows) => {
      slots = rows.map((row) => slots[row] ?? 0);
      const before = current;
      current = recordStep(runtime, model, cache, slots, capacity);
      before.jobs.free();
    },
    dispose: () => {
      current.jobs.free();
      cache.dispose();
    },
  };
}

/** Clears `count` tokens of all rows and heads from the `first` on. own [B, K, T, d] */
function clearTokens(heap: Heap, own: tf.Tensor, first: number, count: number): void {
  const [capacity = 0, headDim = 0] = own.shape.slice(2);
  const numbers = heap.f32(heap.pointer(own), own.size);
  const end = Math.min(first + count, capacity);
  for (let head = 0; head < own.size; head += capacity * headDim)
    numbers.fill(0, head + first * headDim, head + end * headDim);
}

/** hidden [B, D] → logits [B, V]. */
function logitsOf(runtime: WasmRuntime, { head }: DecodeModel, hidden: number, rows: number): tf.Tensor2D {
  const { heap } = runtime;
  const [vocabulary, width] = head.shape;
  const out = heap.output([rows, vocabulary], 'float32');
  const run = (): void => {
    const [x, y, weight] = [hidden, heap.pointer(out), heap.matrix(head)];
    linearAt(runtime, { rows, out: vocabulary, width, x, weight, y, adapter: null });
  };
  try {
    const profile = observed();
    if (profile === null) run();
    else profile([product(rows, head)], run);
  } catch (error) {
    runtime.backend.disposeData(out.dataId);
    throw error;
  }
  return tf.engine().makeTensorFromTensorInfo(out) as tf.Tensor2D;
}

/** A step of these rows, ready to run, and where it reads what changes from step to step. */
interface RecordedStep {
  readonly jobs: JobList;
  /** Int32 [B] each. */
  readonly ids: number;
  readonly positions: number;
  /** Tokens that each row has written. */
  readonly step: number;
  /** The last norm's output, [B, D]. */
  readonly hidden: number;
}

function recordStep(
  runtime: WasmRuntime,
  model: DecodeModel,
  cache: PlacedCache,
  slots: readonly number[],
  capacity: number,
): RecordedStep {
  let places: Omit<RecordedStep, 'jobs'> | null = null;
  const jobs = recordJobs(runtime, (recorder) => {
    places = recordLayers(recorder, model, cache, slots, capacity);
  });
  return { jobs, ...(places as unknown as Omit<RecordedStep, 'jobs'>) };
}

function recordLayers(
  { runtime, keep, op, begin }: JobRecorder,
  model: DecodeModel,
  cache: PlacedCache,
  slots: readonly number[],
  capacity: number,
): Omit<RecordedStep, 'jobs'> {
  const { heap, threads } = runtime;
  const { shape, normEps: eps, scaling, rope } = model;
  const { numHeads: heads, numKvHeads: kvHeads, headDim, scale } = shape;
  const rows = slots.length;
  const [, width] = model.embedding.shape;
  const inner = model.layers[0]?.gate.weight.shape[0] ?? 0;
  const [queries, keys] = [heads * headDim, kvHeads * headDim];
  const floats = (columns: number): number => keep(4 * rows * columns);
  const integers = (values: readonly number[]): number => {
    const at = keep(4 * values.length);
    heap.i32(at, values.length).set(values);
    return at;
  };
  const table = slotTable(slots, cache.prompts);
  const [ids, positions, step, slotsAt] = [slots, slots, [0], table].map(integers) as [number, number, number, number];
  const plan = decodePlan(Int32Array.from(table), heads / kvHeads, kvHeads, threads);
  const planAt = integers(plan);
  const [x, h, q, k, v] = [width, width, queries, keys, keys].map(floats) as [number, number, number, number, number];
  const [attended, change, gate, up] = [queries, width, inner, inner].map(floats) as [number, number, number, number];

  /** Rows a tile, of so many columns. */
  const perTile = (columns: number, count = rows): number =>
    Math.max(Math.ceil(ROW_TILE / columns), Math.ceil(count / (2 * threads)));

  /** y = x·Wᵀ of several layers on the same x, with their adapters and biases. */
  function linears(from: number, ...layers: readonly (readonly [layer: DecodeLinear, y: number])[]): void {
    const works = (): KernelWork[] => layers.map(([layer]) => product(rows, layer.weight, layer.lora));
    const each = layers.map(([{ weight, bias, lora }, y]) => () => {
      const [out, columns] = weight.shape;
      const adapter = lora && { rank: lora.a.shape[0], a: heap.pointer(lora.a), b: heap.pointer(lora.b), scaling };
      linearAt(runtime, { rows, out, width: columns, x: from, weight: heap.matrix(weight), y, adapter });
      if (bias === null) return;
      const tile = perTile(out);
      runtime.pool.run(ADD_TO_ROWS, [heap.pointer(bias), y, rows, out, tile], Math.ceil(rows / tile));
    });
    op(works, ...each);
  }

  /** h = norm(x), of x + change where there is one. */
  function norm(weight: tf.Tensor1D, change?: number): void {
    const works = [rowsWork('RmsNorm', rows, width), ...(change === undefined ? [] : [rowsWork('Add', rows, width)])];
    const at = { x, y: h, rows, width, perTile: perTile(width), weight: heap.pointer(weight), eps };
    op(
      () => works,
      () => rmsNormAt(runtime, { ...at, ...(change !== undefined && { change }) }),
    );
  }

  /** The heads' norms of q or k, in place. */
  function headNorm(at: number, count: number, weight: tf.Tensor1D | null): (() => void)[] {
    if (weight === null) return [];
    const all = rows * count;
    const norm = { weight: heap.pointer(weight), eps, perTile: perTile(headDim, all) };
    return [() => rmsNormAt(runtime, { x: at, y: at, rows: all, width: headDim, ...norm })];
  }

  function rotated(at: number, columns: number): () => void {
    const tables = { positions, cos: heap.pointer(rope.cos), sin: heap.pointer(rope.sin), headDim, isInverse: false };
    return () => ropeAt(runtime, { x: at, y: at, rows, width: columns, perTile: perTile(columns), ...tables });
  }

  function attention(layer: DecodeLayer, index: number): void {
    const { prefix, own } = cache.layers[index] as PlacedCache['layers'][number];
    linears(h, [layer.q, q], [layer.k, k], [layer.v, v]);
    const norms = [...headNorm(q, heads, layer.qNorm), ...headNorm(k, kvHeads, layer.kNorm)];
    if (norms.length > 0) op(() => [rowsWork('RmsNorm', rows, queries + keys)], ...norms);
    op(() => [rowsWork('Rope', rows, queries + keys)], rotated(q, queries), rotated(k, keys));
    const caches = { prefixK: prefix.k, prefixV: prefix.v, ownK: own.k, ownV: own.v };
    const at = Object.fromEntries(Object.entries(caches).map(([name, tensor]) => [name, heap.pointer(tensor)]));
    op(
      () => [attentionWork(shape, rows, table, heap.i32(step, 1)[0] ?? 0)],
      () =>
        decodeAttentionAt(
          runtime,
          { heads, kvHeads, headDim, group: heads / kvHeads, scale },
          {
            ...(at as Record<keyof typeof caches, number>),
            ...{ q, k, v, rows: slotsAt, out: attended, plan: planAt, runs: plan.length / 2, step, capacity },
            ...{ places: prefix.k.shape[1] ?? 0, keys: Number.POSITIVE_INFINITY },
          },
        ),
    );
    linears(attended, [layer.o, change]);
  }

  op(
    () => [rowsWork('GatherRows', rows, width)],
    () => gatherRowsAt(runtime, heap.matrix(model.embedding), ids, x, rows, width),
  );
  model.layers.forEach((layer, index) => {
    begin();
    norm(layer.inputNorm, index === 0 ? undefined : change);
    attention(layer, index);
    norm(layer.postNorm, change);
    linears(h, [layer.gate, gate], [layer.up, up]);
    op(
      () => [rowsWork('SwiGlu', rows, inner)],
      () => swiGluAt(runtime, gate, up, gate, rows * inner),
    );
    linears(gate, [layer.down, change]);
  });
  norm(model.norm, model.layers.length === 0 ? undefined : change);
  return { ids, positions, step, hidden: h };
}

// What a profile is told of the ops, as if they were those of tfjs.

function info(...shape: number[]): tf.TensorInfo {
  return { dataId: {}, shape, dtype: 'float32' };
}

function rowsWork(name: string, rows: number, width: number): KernelWork {
  return { name, inputs: { x: info(rows, width) }, outputs: [info(rows, width)], attrs: {}, values: () => [] };
}

function product(rows: number, weight: tf.Tensor2D, lora: DecodeLinear['lora'] = null): KernelWork {
  const [out, width] = weight.shape;
  const outputs = [info(rows, out)];
  if (lora === null) {
    const inputs = { a: info(rows, width), b: info(out, width) };
    return { name: 'BatchMatMul', inputs, outputs, attrs: { transposeB: true }, values: () => [] };
  }
  const inputs = { x: info(rows, width), weight: info(out, width), a: lora.a, b: lora.b };
  return { name: 'LoraLinear', inputs, outputs, attrs: {}, values: () => [] };
}

function attentionWork(shape: DecodeModel['shape'], rows: number, table: readonly number[], step: number): KernelWork {
  const out = info(rows, shape.numHeads * shape.headDim);
  const inputs = { q: out, rows: { ...info(rows, 3), dtype: 'int32' as const } };
  return { name: 'DecodeAttention', inputs, outputs: [out], attrs: { ...shape, step }, values: () => table };
}
