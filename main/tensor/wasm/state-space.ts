/** One token of Mamba-2's state space. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { STATE_SPACE_STEP } from '../kernels/ids.ts';
import { type FusedCall, registerFused } from './fused.ts';
import type { WasmRuntime } from './runtime.ts';

/** Registers 'StateSpaceStep'. */
export function registerStateSpace(runtime: WasmRuntime): void {
  registerFused(runtime, 'StateSpaceStep', stateSpaceStep);
}

/** Columns of a tile: enough that memory is read in whole lines, few enough for many threads. */
const COLUMNS = 512;

/** The most heads of a group that divide it into tiles alike. */
function headsOfTile(share: number, headDim: number): number {
  let most = Math.max(1, Math.min(share, Math.floor(COLUMNS / headDim)));
  while (share % most !== 0) most--;
  return most;
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
  const block = headsOfTile(heads / groups, headDim);
  pool.run(STATE_SPACE_STEP, [...pointers, ...sizes, heap.pointer(out), block], (rows * heads) / block);
  return out;
}
