/** RMSNorm and its gradients over [N, D]. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { RMS_NORM, RMS_NORM_GRAD_WEIGHT, RMS_NORM_GRAD_X, SUM_CHUNKS } from '../kernels/ids.ts';
import {
  type FusedCall,
  matrixShape,
  type RowsAt,
  registerFused,
  rowsPerTile,
  runRows,
  serialElements,
  withScratch,
} from './fused.ts';
import type { WasmRuntime } from './runtime.ts';

/** Chunks of rows whose partial weight gradients are summed in order: fixed, so that the thread count doesn't matter. */
const mostChunks = 64;
const fewestRows = 16;

/** Registers 'RmsNorm', 'RmsNormGradX' and 'RmsNormGradWeight'. */
export function registerRmsNorm(runtime: WasmRuntime): void {
  registerFused(runtime, 'RmsNorm', rmsNorm);
  registerFused(runtime, 'RmsNormGradX', rmsNormGradX);
  registerFused(runtime, 'RmsNormGradWeight', rmsNormGradWeight);
}

function rmsNorm(runtime: WasmRuntime, call: FusedCall): TensorInfo {
  const { heap } = runtime;
  const [rows, width] = matrixShape(call, 'x');
  call.expectShape('weight', [width]);
  const y = heap.output([rows, width], 'float32');
  const [x, weight] = [call.pointer('x'), call.pointer('weight')];
  rmsNormAt(runtime, { x, weight, y: heap.pointer(y), rows, width, eps: call.number('eps') });
  return y;
}

/** A norm at the level of addresses: x [rows, width] → y. */
export interface RmsNormAt extends RowsAt {
  readonly weight: number;
  readonly eps: number;
  /** What is added to x before, [rows, width]; absent: nothing. */
  readonly change?: number;
}

export function rmsNormAt({ pool }: WasmRuntime, norm: RmsNormAt): void {
  const { x, weight, y, rows, width, eps, change = 0 } = norm;
  runRows(pool, RMS_NORM, norm, (perTile) => [x, weight, y, rows, width, eps, perTile, change]);
}

function rmsNormGradX({ heap, pool }: WasmRuntime, call: FusedCall): TensorInfo {
  const [rows, width] = matrixShape(call, 'x');
  call.expectShape('dy', [rows, width]);
  call.expectShape('weight', [width]);
  const dx = heap.output([rows, width], 'float32');
  const perTile = rowsPerTile(width);
  const pointers = [call.pointer('dy'), call.pointer('x'), call.pointer('weight'), heap.pointer(dx)];
  const args = [...pointers, rows, width, call.number('eps'), perTile];
  pool.run(RMS_NORM_GRAD_X, args, Math.ceil(rows / perTile), rows * width > serialElements);
  return dx;
}

function rmsNormGradWeight({ heap, pool }: WasmRuntime, call: FusedCall): TensorInfo {
  const [rows, width] = matrixShape(call, 'x');
  call.expectShape('dy', [rows, width]);
  const dWeight = heap.output([width], 'float32');
  const perChunk = Math.max(fewestRows, Math.ceil(rows / mostChunks));
  const chunks = Math.ceil(rows / perChunk);
  const parallel = rows * width > serialElements;
  withScratch(heap, chunks * width * 4, (partial) => {
    const pointers = [call.pointer('dy'), call.pointer('x'), partial];
    pool.run(RMS_NORM_GRAD_WEIGHT, [...pointers, rows, width, call.number('eps'), perChunk], chunks, parallel);
    const perTile = 256;
    const args = [partial, heap.pointer(dWeight), chunks, width, perTile];
    pool.run(SUM_CHUNKS, args, Math.ceil(width / perTile), chunks * width > serialElements);
  });
  return dWeight;
}
