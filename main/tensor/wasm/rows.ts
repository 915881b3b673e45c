/** Row gather, its gradient, and UnsortedSegmentSum, which tfjs's wasm backend lacks. */
import { type NamedTensorInfoMap, type TensorInfo, UnsortedSegmentSum } from '@tensorflow/tfjs-core';
import { inputError } from '../../errors.ts';
import { GATHER_ROWS, SCATTER_ADD_ROWS } from '../kernels/ids.ts';
import type { HeapMatrix } from './heap.ts';
import { registerWasmKernel, tensorInput, tensorSize, type WasmRuntime } from './runtime.ts';

/** Registers GatherRows, ScatterAddRows and UnsortedSegmentSum. */
export function registerRows(runtime: WasmRuntime): void {
  registerWasmKernel('GatherRows', ({ inputs }) => {
    const x = tensorInput(inputs, 'x');
    return gatherRows(runtime, x, rowIndices(runtime, inputs, x.shape[0] ?? 0));
  });
  registerWasmKernel('ScatterAddRows', ({ inputs, attrs }) => {
    const rows = Number(attrs?.rows);
    return scatterAddRows(runtime, tensorInput(inputs, 'dy'), rowIndices(runtime, inputs, rows), rows);
  });
  registerWasmKernel(UnsortedSegmentSum, ({ inputs, attrs }) => {
    const rows = Number(attrs?.numSegments);
    return scatterAddRows(runtime, tensorInput(inputs, 'x'), tensorInput(inputs, 'segmentIds'), rows);
  });
}

/** x [R, D], indices [N] → [N, D]. */
function gatherRows(runtime: WasmRuntime, x: TensorInfo, indices: TensorInfo): TensorInfo {
  const { heap } = runtime;
  const count = tensorSize(indices);
  const width = x.shape[1] ?? 1;
  const out = heap.output([count, width], 'float32');
  gatherRowsAt(runtime, heap.matrix(x), heap.pointer(indices), heap.pointer(out), count, width);
  return out;
}

/** The same at the level of addresses. */
export function gatherRowsAt(
  { pool }: WasmRuntime,
  { at, isHalf }: HeapMatrix,
  indices: number,
  out: number,
  count: number,
  width: number,
): void {
  const rowsATile = Math.max(1, Math.ceil(8192 / Math.max(1, width)));
  pool.run(GATHER_ROWS, [at, indices, out, count, width, rowsATile, isHalf ? 1 : 0], Math.ceil(count / rowsATile));
}

/** dy [N, …], indices [N] → [rows, …]. */
function scatterAddRows(
  { heap, pool, threads }: WasmRuntime,
  dy: TensorInfo,
  indices: TensorInfo,
  rows: number,
): TensorInfo {
  const [count = 0, ...rest] = dy.shape;
  if (count !== tensorSize(indices)) {
    throw inputError('SHAPE_MISMATCH', `Expected one index a row, got [${dy.shape}] with [${indices.shape}]`);
  }
  const width = rest.reduce((product, size) => product * size, 1);
  const out = heap.output([rows, ...rest], 'float32');
  // Every block reads all indices, so there should be just enough blocks for the threads.
  const columns = Math.min(width, 128);
  const across = Math.ceil(width / columns);
  const blockRows = Math.max(1, Math.ceil((rows * across) / (8 * threads)));
  const args = [heap.pointer(dy), heap.pointer(indices), heap.pointer(out), count, width, rows];
  args.push(blockRows, columns, across);
  const parallel = tensorSize(dy) + tensorSize(out) > 32768;
  pool.run(SCATTER_ADD_ROWS, args, across * Math.ceil(rows / blockRows), parallel);
  return out;
}

/** The input `indices`, each checked to be a row of the table or -1. */
function rowIndices({ heap }: WasmRuntime, inputs: NamedTensorInfoMap, rows: number): TensorInfo {
  const indices = tensorInput(inputs, 'indices');
  if (indices.dtype !== 'int32') {
    throw inputError('UNSUPPORTED_DTYPE', `Expected int32 row indices, got ${indices.dtype}`);
  }
  const bad = heap.i32(heap.pointer(indices), tensorSize(indices)).find((index) => index < -1 || index >= rows);
  if (bad !== undefined) {
    throw inputError('INDEX_OUT_OF_RANGE', `Expected row indices from -1 to ${rows - 1}, got ${bad}`);
  }
  return indices;
}
