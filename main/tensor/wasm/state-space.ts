/** One token of Mamba-2's state space. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { STATE_SPACE_STEP } from '../kernels/ids.ts';
import { type FusedCall, registerFused } from './fused.ts';
import type { WasmRuntime } from './runtime.ts';

/** Registers 'StateSpaceStep'. */
export function registerStateSpace(runtime: WasmRuntime): void {
  registerFused(runtime, 'StateSpaceStep', stateSpaceStep);
}

/** Changes the states in place. */
function stateSpaceStep({ heap, pool }: WasmRuntime, call: FusedCall): TensorInfo {
  const sizes = ['groups', 'heads', 'stateDim', 'headDim'].map((name) => call.number(name));
  const [groups, heads, stateDim, headDim] = sizes as [number, number, number, number];
  const [rows = 0] = call.shape('mixed');
  call.expectShape('mixed', [rows, heads * headDim + 2 * groups * stateDim]);
  call.expectShape('dt', [rows, heads]);
  for (const name of ['timeBias', 'decay', 'skip']) call.expectShape(name, [heads]);
  call.expectShape('states', [rows, heads * stateDim * headDim]);
  const out = heap.output([rows, heads * headDim], 'float32');
  const pointers = ['mixed', 'dt', 'timeBias', 'decay', 'skip', 'states'].map((name) => call.pointer(name));
  pool.run(STATE_SPACE_STEP, [...pointers, ...sizes, heap.pointer(out)], rows * heads);
  return out;
}
