/** Columns of matrices, and the gate that is made of them. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { COLUMNS, COPY_COLUMNS, GATE_COLUMNS, MULTIPLY_COLUMNS } from '../kernels/ids.ts';
import type { ColumnsOp } from '../ops/decode-kernels.ts';
import { type FusedCall, matrixShape, registerFused, runRows } from './fused.ts';
import type { WasmRuntime } from './runtime.ts';

const KINDS: Readonly<Record<ColumnsOp, number>> = {
  copy: COPY_COLUMNS,
  multiply: MULTIPLY_COLUMNS,
  gate: GATE_COLUMNS,
};

/** Registers 'SigmoidGate'. */
export function registerSigmoidGate(runtime: WasmRuntime): void {
  registerFused(runtime, 'SigmoidGate', sigmoidGate);
}

function sigmoidGate(runtime: WasmRuntime, call: FusedCall): TensorInfo {
  const { heap } = runtime;
  const [rows, width] = matrixShape(call, 'gate');
  call.expectShape('up', [rows, width]);
  const y = heap.output([rows, width], 'float32');
  const [gate, up] = [call.pointer('gate'), call.pointer('up')];
  columnsAt(runtime, { op: 'gate', a: gate, aLine: width, b: up, bLine: width, y: heap.pointer(y), rows, width });
  return y;
}

/** What becomes of columns at the level of addresses: `rows` lines of `width`, each `aLine` or `bLine` numbers after the last. */
export interface ColumnsAt {
  readonly op: ColumnsOp;
  readonly a: number;
  readonly aLine: number;
  readonly b: number;
  readonly bLine: number;
  readonly y: number;
  readonly rows: number;
  readonly width: number;
  readonly perTile?: number;
}

export function columnsAt({ pool }: WasmRuntime, columns: ColumnsAt): void {
  const { op, a, aLine, b, bLine, y, rows, width } = columns;
  runRows(pool, COLUMNS, { ...columns, x: a }, (perTile) => [a, aLine, b, bLine, y, rows, width, perTile, KINDS[op]]);
}
