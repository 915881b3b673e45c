/** Rotary position embedding over [N, heads * d]. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { ROPE } from '../kernels/ids.ts';
import { type FusedCall, matrixShape, registerFused, rowsPerTile, serialElements } from './fused.ts';
import type { WasmRuntime } from './runtime.ts';

/** Registers 'Rope'. */
export function registerRope(runtime: WasmRuntime): void {
  registerFused(runtime, 'Rope', rope);
}

function rope({ heap, pool }: WasmRuntime, call: FusedCall): TensorInfo {
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
  const perTile = rowsPerTile(width);
  const pointers = ['x', 'positions', 'cos', 'sin'].map((name) => call.pointer(name));
  const args = [...pointers, heap.pointer(y), rows, heads, half, call.flag('inverse') ? -1 : 1, perTile];
  pool.run(ROPE, args, Math.ceil(rows / perTile), rows * width > serialElements);
  return y;
}

/** A position outside the tables would read memory beyond them. */
function checkPositions(positions: Int32Array, limit: number): void {
  const bad = positions.find((position) => position < 0 || position >= limit);
  if (bad !== undefined) throw new RangeError(`Expected Rope's positions to be in 0..${limit - 1}, got ${bad}`);
}
