/** Kernels that train: AdamW and accumulation in place, and the sum of squares that gradient clipping needs. */
import type { NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { inputError } from '../../errors.ts';
import { ADAMW, ADD_IN_PLACE, FLAT_TILE, SUM_SQUARES } from '../kernels/ids.ts';
import { type AdamWAttrs, LEAVE_UNCHANGED } from '../ops/adamw.ts';
import { registerWasmKernel, tensorInput, tensorSize, type WasmRuntime } from './runtime.ts';

/**
 * Registers AdamW, AddInPlace and SumSquares. The first two write into the memory of their inputs and return a scalar
 * zero, since tfjs wants an output.
 */
export function registerAdamW(runtime: WasmRuntime): void {
  registerWasmKernel('AdamW', ({ inputs, attrs }) => adamW(runtime, inputs, attrs as unknown as AdamWAttrs));
  registerWasmKernel('AddInPlace', ({ inputs, attrs }) => {
    const { heap, pool } = runtime;
    const [target, x] = sameSize(inputs, ['target', 'x']);
    const size = tensorSize(target);
    pool.run(ADD_IN_PLACE, [heap.pointer(target), heap.pointer(x), size, Number(attrs?.scale)], tiles(size));
    return scalar(runtime, 0);
  });
  registerWasmKernel('SumSquares', ({ inputs }) => scalar(runtime, sumSquares(runtime, tensorInput(inputs, 'x'))));
}

function adamW(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attrs: AdamWAttrs): TensorInfo {
  const tensors = sameSize(inputs, ['param', 'm', 'v', 'grad']);
  const { lr, beta1, beta2, eps, weightDecay, step } = attrs;
  const gradScale = heldNumber(runtime, tensorInput(inputs, 'gradScale'));
  if (gradScale === LEAVE_UNCHANGED) return scalar(runtime, 0);
  const size = tensorSize(tensors[0]);
  const args = [...tensors.map(runtime.heap.pointer), size, 1 - lr * weightDecay, 1 - beta1, beta2, 1 - beta2];
  args.push(lr / (1 - beta1 ** step), Math.sqrt(1 - beta2 ** step), eps, gradScale);
  runtime.pool.run(ADAMW, args, tiles(size));
  return scalar(runtime, 0);
}

/** Each tile's partial sum is a double, and they are added in order: the same result on any number of threads. */
function sumSquares({ heap, pool }: WasmRuntime, x: TensorInfo): number {
  const size = tensorSize(x);
  const count = tiles(size);
  const partials = heap.malloc(8 * count);
  try {
    pool.run(SUM_SQUARES, [heap.pointer(x), size, partials], count);
    return new Float64Array(heap.memory.buffer, partials, count).reduce((sum, part) => sum + part, 0);
  } finally {
    heap.free(partials);
  }
}

/** The named inputs, checked to be float32 of one size. */
function sameSize<const Names extends readonly [string, ...string[]]>(
  inputs: NamedTensorInfoMap,
  names: Names,
): { [Index in keyof Names]: TensorInfo } {
  const tensors = names.map((name) => tensorInput(inputs, name));
  const sizes = tensors.map(tensorSize);
  if (sizes.some((size) => size !== sizes[0]) || tensors.some(({ dtype }) => dtype !== 'float32')) {
    const got = tensors.map(({ dtype, shape }) => `${dtype} [${shape}]`).join(', ');
    throw inputError('SHAPE_MISMATCH', `Expected float32 tensors of one size for ${names.join(', ')}, got ${got}`);
  }
  return tensors as { [Index in keyof Names]: TensorInfo };
}

function tiles(size: number): number {
  return Math.ceil(size / FLAT_TILE);
}

function scalar({ heap }: WasmRuntime, value: number): TensorInfo {
  const out = heap.output([], 'float32');
  heap.f32(heap.pointer(out), 1)[0] = value;
  return out;
}

function heldNumber({ heap }: WasmRuntime, tensor: TensorInfo): number {
  return heap.f32(heap.pointer(tensor), 1)[0] ?? Number.NaN;
}
