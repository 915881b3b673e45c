/** Rotary position embedding over [N, heads * d]. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { ROPE } from '../kernels/ids.ts';
import { type FusedCall, matrixShape, type RowsAt, registerFused, runRows } from './fused.ts';
import type { WasmRuntime } from './runtime.ts';

/** Registers 'Rope'. */
export function registerRope(runtime: WasmRuntime): void {
  registerFused(runtime, 'Rope', rope);
}

function rope(runtime: WasmRuntime, call: FusedCall): TensorInfo {
  const { heap } = runtime;
  const [rows, width] = matrixShape(call, 'x');
  const [positions] = matrixShape(call, 'cos');
  const half = call.number('headDim') / 2;
  const heads = width / (half * 2);
  if (!Number.isInteger(half) || !Number.isInteger(heads)) {
    throw new RangeError(`Expected Rope's "headDim" to be even and to divide ${width}, got ${half * 2}`);
  }
  call.expectShape('positions', [rows]);
  call.expectShape('cos', [positions, half]);
  call.expectShape('sin', [positions, half]);
  checkPositions(heap.i32(call.pointer('positions'), rows), positions);
  const y = heap.output([rows, width], 'float32');
  const tables = { positions: call.pointer('positions'), cos: call.pointer('cos'), sin: call.pointer('sin') };
  const isInverse = call.flag('inverse');
  ropeAt(runtime, { x: call.pointer('x'), ...tables, y: heap.pointer(y), rows, width, headDim: half * 2, isInverse });
  return y;
}

/**
 * RoPE at the level of addresses: x [rows, width] → y, which may be x, and is where `rotaryDim`, the rotated dimensions of
 * a head, aren't all.
 */
export interface RopeAt extends RowsAt {
  readonly positions: number;
  readonly cos: number;
  readonly sin: number;
  readonly headDim: number;
  readonly rotaryDim?: number;
  readonly isInverse: boolean;
}

export function ropeAt({ pool }: WasmRuntime, rope: RopeAt): void {
  const { x, y, rows, width, positions, cos, sin, headDim, rotaryDim = headDim, isInverse } = rope;
  const shape = [rows, width / headDim, rotaryDim / 2, isInverse ? -1 : 1];
  runRows(pool, ROPE, rope, (perTile) => [x, positions, cos, sin, y, ...shape, perTile, headDim]);
}

/** A position outside the tables would read memory beyond them. */
function checkPositions(positions: Int32Array, limit: number): void {
  const bad = positions.find((position) => position < 0 || position >= limit);
  if (bad !== undefined) throw new RangeError(`Expected Rope's positions to be in 0..${limit - 1}, got ${bad}`);
}
