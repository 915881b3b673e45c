/** SwiGLU, silu(gate) * up, and its gradient. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { SWIGLU, SWIGLU_GRAD } from '../kernels/ids.ts';
import { type FusedCall, registerFused } from './fused.ts';
import type { WasmRuntime } from './runtime.ts';

/** Elements per tile; exp makes them expensive, so two tiles are enough to be worth waking the workers. */
const perTile = 4096;

/** Registers 'SwiGlu' and 'SwiGluGrad'. */
export function registerSwiGlu(runtime: WasmRuntime): void {
  registerFused(runtime, 'SwiGlu', swiGlu);
  registerFused(runtime, 'SwiGluGrad', swiGluGrad);
}

function swiGlu(runtime: WasmRuntime, call: FusedCall): TensorInfo {
  const { heap } = runtime;
  const shape = call.shape('gate');
  call.expectShape('up', shape);
  const y = heap.output(shape, 'float32');
  const elements = shape.reduce((product, size) => product * size, 1);
  swiGluAt(runtime, call.pointer('gate'), call.pointer('up'), heap.pointer(y), elements);
  return y;
}

/** The same at the level of addresses. y may be one of the others. */
export function swiGluAt({ pool }: WasmRuntime, gate: number, up: number, y: number, elements: number): void {
  pool.run(SWIGLU, [gate, up, y, elements, perTile], Math.ceil(elements / perTile));
}

function swiGluGrad({ heap, pool }: WasmRuntime, call: FusedCall): TensorInfo[] {
  const shape = call.shape('gate');
  call.expectShape('up', shape);
  call.expectShape('dy', shape);
  const dgate = heap.output(shape, 'float32');
  const dup = heap.output(shape, 'float32');
  const elements = shape.reduce((product, size) => product * size, 1);
  const pointers = [call.pointer('dy'), call.pointer('gate'), call.pointer('up')];
  const args = [...pointers, heap.pointer(dgate), heap.pointer(dup), elements, perTile];
  pool.run(SWIGLU_GRAD, args, Math.ceil(elements / perTile));
  return [dgate, dup];
}
