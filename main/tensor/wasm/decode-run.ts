/** A decoding step as one list of jobs (job-list.ts), laid out again whenever rows leave. */
import * as tf from '@tensorflow/tfjs-core';
import { profiled } from '../kernel-profile.ts';
import { ADD_TO_ROWS } from '../kernels/ids.ts';
import type { Columns, DecodeKernels } from '../ops/decode-kernels.ts';
import { decodeBySteps, decodeLayers, type RowsStep } from '../ops/decode-layers.ts';
import type { DecodeModel, DecodeRun } from '../ops/decode-step.ts';
import { productWork, rowsWork, type SlotTable } from '../ops/decode-works.ts';
import type { PrefixKv, RowPrefix } from '../ops/kv-cache.ts';
import { type PlacedCache, placeCache } from '../ops/placed-cache.ts';
import { fitsHeads } from './attention.ts';
import { convolutionStepAt } from './causal-convolution.ts';
import { columnsAt } from './columns.ts';
import { decodeAttentionAt, decodePlan } from './decode-attention.ts';
import { gatedDeltaStepAt } from './gated-delta.ts';
import type { Heap } from './heap.ts';
import { type JobRecorder, recordJobs } from './job-list.ts';
import { linearAt } from './lora-linear.ts';
import { rmsNormAt } from './rms-norm.ts';
import { ropeAt } from './rope.ts';
import { gatherRowsAt } from './rows.ts';
import type { WasmRuntime } from './runtime.ts';
import { swiGluAt } from './swiglu.ts';

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
  const { heap } = runtime;
  const room = (shape: readonly number[]): tf.Tensor =>
    tf.engine().makeTensorFromTensorInfo(heap.output(shape, 'float32'));
  const cache = placeCache(prefix, prompts, capacity, model.shape, room);
  const open = (rows: SlotTable): RowsStep => openStep(runtime, model, cache, rows, capacity);
  const clear = (first: number, count: number): void => {
    for (const { own } of cache.layers) for (const tensor of [own.k, own.v]) clearTokens(heap, tensor, first, count);
  };
  return decodeBySteps(model, cache, capacity, open, clear);
}

/** own [B, K, T, d] */
function clearTokens(heap: Heap, own: tf.Tensor, first: number, count: number): void {
  const [capacity = 0, headDim = 0] = own.shape.slice(2);
  const numbers = heap.f32(heap.pointer(own), own.size);
  const end = Math.min(first + count, capacity);
  for (let head = 0; head < own.size; head += capacity * headDim)
    numbers.fill(0, head + first * headDim, head + end * headDim);
}

/** Where a step reads what changes from one to the next, int32 [B] each. */
interface StepInputs {
  readonly ids: number;
  readonly positions: number;
}

function openStep(
  runtime: WasmRuntime,
  model: DecodeModel,
  cache: PlacedCache,
  table: SlotTable,
  capacity: number,
): RowsStep {
  const { heap } = runtime;
  const { jobs, recorded } = recordJobs(runtime, (recorder) => recordStep(recorder, model, cache, table, capacity));
  const { ids, positions, hidden } = recorded;
  const [, width] = model.embedding.shape;
  return {
    run: (nextIds, nextPositions, wanted) => {
      heap.i32(ids, nextIds.length).set(nextIds);
      heap.i32(positions, nextPositions.length).set(nextPositions);
      jobs.run();
      if (wanted !== undefined) moveRows(heap.f32(hidden, nextIds.length * width), width, wanted);
      return logitsOf(runtime, model, hidden, wanted?.length ?? nextIds.length);
    },
    free: jobs.free,
  };
}

/** Moves these rows, in ascending order, to the beginning. */
function moveRows(numbers: Float32Array, width: number, rows: readonly number[]): void {
  rows.forEach((row, to) => {
    if (row !== to) numbers.copyWithin(to * width, row * width, (row + 1) * width);
  });
}

/** hidden [B, D] → logits [B, V]. */
function logitsOf(runtime: WasmRuntime, { head }: DecodeModel, hidden: number, rows: number): tf.Tensor2D {
  const { heap } = runtime;
  const [vocabulary, width] = head.shape;
  const logits = heap.allOrNone(() => {
    const out = heap.output([rows, vocabulary], 'float32');
    const [x, y, weight] = [hidden, heap.pointer(out), heap.matrix(head)];
    profiled(
      () => [productWork(rows, head)],
      () => linearAt(runtime, { rows, out: vocabulary, width, x, weight, y, adapter: null }),
    );
    return out;
  });
  return tf.engine().makeTensorFromTensorInfo(logits) as tf.Tensor2D;
}

/** Records a step; says where its inputs are, and the last norm's output [B, D]. */
function recordStep(
  recorder: JobRecorder,
  model: DecodeModel,
  cache: PlacedCache,
  table: SlotTable,
  capacity: number,
): StepInputs & { readonly hidden: number } {
  const { runtime, keep, op, begin } = recorder;
  const { heap } = runtime;
  const rows = table.length / 3;
  const [, width] = model.embedding.shape;
  const inputs = { ids: keep(4 * rows), positions: keep(4 * rows) };
  const x = keep(4 * rows * width);
  op(
    () => [rowsWork('GatherRows', rows, width)],
    () => gatherRowsAt(runtime, heap.matrix(model.embedding), inputs.ids, x, rows, width),
  );
  const kernels = jobKernels(runtime, keep, model, cache, table, capacity, inputs);
  const positions = (): ArrayLike<number> => heap.i32(inputs.positions, rows);
  return { ...inputs, hidden: decodeLayers(model, x, kernels, { table, positions, op, begin }) };
}

/** Kernels of a runtime that records their jobs. */
function jobKernels(
  runtime: WasmRuntime,
  keep: JobRecorder['keep'],
  { shape, normEps: eps, scaling }: DecodeModel,
  cache: PlacedCache,
  table: SlotTable,
  capacity: number,
  inputs: StepInputs,
): DecodeKernels<number> {
  const { heap, threads } = runtime;
  const { numHeads: heads, numKvHeads: kvHeads, headDim, scale } = shape;
  const group = heads / kvHeads;
  const rows = table.length / 3;
  const integers = (values: readonly number[]): number => {
    const at = keep(4 * values.length);
    heap.i32(at, values.length).set(values);
    return at;
  };
  const plan = decodePlan(Int32Array.from(table), group, kvHeads, threads);
  const [tableAt, planAt] = [integers(table), integers(plan)];

  /** Rows a tile, of so many rows with so many columns. */
  const perTile = (columns: number, count = rows): number =>
    Math.max(Math.ceil(ROW_TILE / columns), Math.ceil(count / (2 * threads)));
  const zeros = (count: number): number => {
    const at = keep(4 * count);
    heap.f32(at, count).fill(0);
    return at;
  };

  return {
    buffer: (columns) => keep(4 * rows * columns),
    norm: (x, weight, change, y) => {
      const width = weight.size;
      const norm = { weight: heap.pointer(weight), eps, perTile: perTile(width) };
      rmsNormAt(runtime, { x, y, rows, width, ...norm, ...(change !== null && { change }) });
    },
    linear: (x, { weight, bias, lora }, y) => {
      const [out, width] = weight.shape;
      const adapter = lora && { rank: lora.a.shape[0], a: heap.pointer(lora.a), b: heap.pointer(lora.b), scaling };
      linearAt(runtime, { rows, out, width, x, weight: heap.matrix(weight), y, adapter });
      if (bias === null) return;
      const tile = perTile(out);
      runtime.pool.run(ADD_TO_ROWS, [heap.pointer(bias), y, y, rows, out, tile], Math.ceil(rows / tile));
    },
    headNorm: (x, columns, weight) => {
      const [width, all] = [weight.size, (rows * columns) / weight.size];
      const norm = { weight: heap.pointer(weight), eps, perTile: perTile(width, all) };
      rmsNormAt(runtime, { x, y: x, rows: all, width, ...norm });
    },
    rope: (x, columns, { cos, sin }) => {
      const tables = { positions: inputs.positions, cos: heap.pointer(cos), sin: heap.pointer(sin) };
      const dims = { headDim, rotaryDim: 2 * cos.shape[1], isInverse: false };
      ropeAt(runtime, { x, y: x, rows, width: columns, perTile: perTile(columns), ...tables, ...dims });
    },
    attention: (place, q, k, v, out) => {
      const { prefix, own } = cache.layers[place] as PlacedCache['layers'][number];
      const prompts = { prefixK: heap.pointer(prefix.k), prefixV: heap.pointer(prefix.v) };
      const caches = { ...prompts, ownK: heap.pointer(own.k), ownV: heap.pointer(own.v), capacity };
      const places = prefix.k.shape[1] ?? 0;
      const runs = { plan: planAt, runs: plan.length / 2, rows: tableAt, positions: inputs.positions };
      decodeAttentionAt(
        runtime,
        { heads, kvHeads, headDim, group, scale },
        { q, k, v, out, ...caches, ...runs, places, keys: Number.POSITIVE_INFINITY },
      );
    },
    swiglu: (gate, up, columns) => swiGluAt(runtime, gate, up, gate, rows * columns),
    columns: (op, width, lines, a, b, y) => {
      const at = (part: Columns<number> | null): number => (part === null ? 0 : part.of + 4 * part.first);
      const [from, other] = [
        { a: at(a), aLine: a.line },
        { b: at(b), bLine: b?.line ?? 0 },
      ];
      const all = rows * lines;
      columnsAt(runtime, { op, ...from, ...other, y, rows: all, width, perTile: perTile(width, all) });
    },
    convolution: ({ weight, bias, silu }, states, x, y) => {
      const [width = 0, , taps = 0] = weight.shape;
      const weights = { weight: heap.pointer(weight), bias: bias === null ? zeros(width) : heap.pointer(bias) };
      convolutionStepAt(runtime, { x, ...weights, taps, silu, states: heap.pointer(states), y, rows, width });
    },
    deltaRule: (delta, { timeBias, decay }, states, buffers) => {
      const weights = { timeBias: heap.pointer(timeBias), decay: heap.pointer(decay) };
      gatedDeltaStepAt(runtime, { ...delta, ...weights, ...buffers, states: heap.pointer(states), rows });
    },
  };
}
