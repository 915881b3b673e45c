/** A linear layer under a low-rank adapter, and its gradients: matrix products that accumulate in place. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { type FusedCall, matrixShape, registerFused, withScratch } from './fused.ts';
import { gemm } from './gemm.ts';
import type { HeapMatrix } from './heap.ts';
import type { WasmRuntime } from './runtime.ts';

// N tokens, I in, O out, r rank.

/** Registers 'LoraLinear' and, of its gradient, 'LoraLinearGradLow', 'LoraLinearGradX' and 'LoraLinearGradAdapter'. */
export function registerLoraLinear(runtime: WasmRuntime): void {
  registerFused(runtime, 'LoraLinear', loraLinear);
  registerFused(runtime, 'LoraLinearGradLow', gradLow);
  registerFused(runtime, 'LoraLinearGradX', gradX);
  registerFused(runtime, 'LoraLinearGradAdapter', gradAdapter);
}

/** A matrix in memory: its address, its row length, and whether it is transposed, or bfloat16 (on the right only). */
interface Operand {
  readonly at: number;
  readonly width: number;
  readonly transposed?: boolean;
  readonly isHalf?: boolean;
}

type Size = readonly [m: number, n: number, k: number];

/** c = alpha·a·b, or c += alpha·a·b. */
function multiply(
  runtime: WasmRuntime,
  [m, n, k]: Size,
  a: Operand,
  b: Operand,
  c: number,
  options: { readonly alpha?: number; readonly accumulate?: boolean } = {},
): void {
  const [aRow, aCol] = a.transposed === true ? [1, a.width] : [a.width, 1];
  const [bRow, bCol] = b.transposed === true ? [1, b.width] : [b.width, 1];
  const bIsHalf = b.isHalf === true;
  gemm(runtime, { m, n, k, a: a.at, aRow, aCol, b: b.at, bRow, bCol, bIsHalf, c, cRow: n, ...options });
}

function rankOf(call: FusedCall, width: number): number {
  const [rank] = matrixShape(call, 'a');
  call.expectShape('a', [rank, width]);
  return rank;
}

function loraLinear(runtime: WasmRuntime, call: FusedCall): TensorInfo {
  const { heap } = runtime;
  const [n, width] = matrixShape(call, 'x');
  const [out] = matrixShape(call, 'weight');
  call.expectShape('weight', [out, width]);
  const rank = rankOf(call, width);
  call.expectShape('b', [out, rank]);
  const y = heap.output([n, out], 'float32');
  const adapter = { rank, a: call.pointer('a'), b: call.pointer('b'), scaling: call.number('scaling') };
  linearAt(runtime, {
    rows: n,
    out,
    width,
    x: call.pointer('x'),
    weight: call.matrix('weight'),
    y: heap.pointer(y),
    adapter,
  });
  return y;
}

/** A low-rank adapter at the level of addresses: a [rank, I], b [O, rank]. */
export interface AdapterAt {
  readonly rank: number;
  readonly a: number;
  readonly b: number;
  readonly scaling: number;
}

/** A linear layer at the level of addresses: x [rows, width], weight [out, width] → y [rows, out]. */
export interface LinearAt {
  readonly rows: number;
  readonly out: number;
  readonly width: number;
  readonly x: number;
  readonly weight: HeapMatrix;
  readonly y: number;
  readonly adapter: AdapterAt | null;
}

/** y = x·weightᵀ, and what its adapter adds. */
export function linearAt(runtime: WasmRuntime, { rows, out, width, x: at, weight, y, adapter }: LinearAt): void {
  const x = { at, width };
  multiply(runtime, [rows, out, width], x, { ...weight, width, transposed: true }, y);
  if (adapter === null) return;
  const { rank, a, b, scaling } = adapter;
  withScratch(runtime.heap, 4 * rows * rank, (low) => {
    multiply(runtime, [rows, rank, width], x, { at: a, width, transposed: true }, low);
    const ofB = { at: b, width: rank, transposed: true };
    multiply(runtime, [rows, out, rank], { at: low, width: rank }, ofB, y, { alpha: scaling, accumulate: true });
  });
}

function gradLow(runtime: WasmRuntime, call: FusedCall): TensorInfo {
  const [n, out] = matrixShape(call, 'dy');
  const [, rank] = matrixShape(call, 'b');
  call.expectShape('b', [out, rank]);
  const dLow = runtime.heap.output([n, rank], 'float32');
  const [dy, b] = [
    { at: call.pointer('dy'), width: out },
    { at: call.pointer('b'), width: rank },
  ];
  multiply(runtime, [n, rank, out], dy, b, runtime.heap.pointer(dLow), { alpha: call.number('scaling') });
  return dLow;
}

function gradX(runtime: WasmRuntime, call: FusedCall): TensorInfo {
  const { heap } = runtime;
  const [n, out] = matrixShape(call, 'dy');
  const [, width] = matrixShape(call, 'weight');
  call.expectShape('weight', [out, width]);
  const rank = rankOf(call, width);
  call.expectShape('dLow', [n, rank]);
  const dx = heap.output([n, width], 'float32');
  const dy = { at: call.pointer('dy'), width: out };
  multiply(runtime, [n, width, out], dy, { ...call.matrix('weight'), width }, heap.pointer(dx));
  const [dLow, a] = [
    { at: call.pointer('dLow'), width: rank },
    { at: call.pointer('a'), width },
  ];
  multiply(runtime, [n, width, rank], dLow, a, heap.pointer(dx), { accumulate: true });
  return dx;
}

function gradAdapter(runtime: WasmRuntime, call: FusedCall): TensorInfo[] {
  const { heap } = runtime;
  const [n, out] = matrixShape(call, 'dy');
  const [, width] = matrixShape(call, 'x');
  call.expectShape('x', [n, width]);
  const rank = rankOf(call, width);
  call.expectShape('dLow', [n, rank]);
  const da = heap.output([rank, width], 'float32');
  const db = heap.output([out, rank], 'float32');
  const x = { at: call.pointer('x'), width };
  const dy = { at: call.pointer('dy'), width: out };
  const dLow = { at: call.pointer('dLow'), width: rank, transposed: true };
  multiply(runtime, [rank, width, n], dLow, x, heap.pointer(da));
  withScratch(heap, 4 * n * rank, (at) => {
    multiply(runtime, [n, rank, width], x, { at: call.pointer('a'), width, transposed: true }, at);
    const [of, low] = [
      { ...dy, transposed: true },
      { at, width: rank },
    ];
    multiply(runtime, [out, rank, n], of, low, heap.pointer(db), { alpha: call.number('scaling') });
  });
  return [da, db];
}
