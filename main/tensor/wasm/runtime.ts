/** The runtime that every kernel of the wasm backend gets, and how it replaces a stock kernel. */
import type { BackendWasm } from '@tensorflow/tfjs-backend-wasm';
import {
  getKernel,
  type KernelConfig,
  type KernelFunc,
  type NamedTensorInfoMap,
  registerKernel,
  type TensorInfo,
  unregisterKernel,
} from '@tensorflow/tfjs-core';
import type { Heap } from './heap.ts';
import type { Pool } from './pool.ts';

/** An open wasm backend: its heap and the threads that run our kernels on it. */
export interface WasmRuntime {
  readonly backend: BackendWasm;
  readonly heap: Heap;
  readonly pool: Pool;
  readonly threads: number;
  /** Whether matrix products run on panels for 256-bit vectors; the results are bit-identical either way. */
  readonly wide: boolean;
}

const stockKernels = new Map<string, KernelConfig | null>();

/** Registers a kernel for backend 'wasm', replacing the stock one or an earlier runtime's. */
export function registerWasmKernel(kernelName: string, kernelFunc: KernelFunc): void {
  // A stock kernel that ours falls back to still needs its own set-up when a backend opens.
  const { setupFunc, disposeFunc } = stockKernel(kernelName) ?? {};
  if (getKernel(kernelName, 'wasm')) unregisterKernel(kernelName, 'wasm');
  registerKernel({
    kernelName,
    backendName: 'wasm',
    kernelFunc,
    ...(setupFunc && { setupFunc }),
    ...(disposeFunc && { disposeFunc }),
  });
}

/** The kernel that tfjs itself ships under this name, if any. */
export function stockKernel(kernelName: string): KernelConfig | null {
  const known = stockKernels.get(kernelName);
  if (known !== undefined) return known;
  const stock = getKernel(kernelName, 'wasm') ?? null;
  stockKernels.set(kernelName, stock);
  return stock;
}

/** A kernel's input by its name. */
export function tensorInput(inputs: NamedTensorInfoMap, name: string): TensorInfo {
  const tensor = inputs[name];
  if (!tensor)
    throw new TypeError(`Expected a tensor "${name}" among the inputs, got ${Object.keys(inputs).join(', ')}`);
  return tensor;
}

/** Elements of a tensor. */
export function tensorSize({ shape }: TensorInfo): number {
  return shape.reduce((product, size) => product * size, 1);
}
