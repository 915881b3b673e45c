import '../../../main/tensor/gradients.ts';
import { buildKernels } from '../../../main/tensor/kernels/build.ts';
import { openWasmBackend } from '../../../main/tensor/wasm/boot.ts';
import type { WasmRuntime } from '../../../main/tensor/wasm/runtime.ts';

/** Opens the wasm backend on freshly built kernels; without `revectorize` as the product would. */
export function openForTest(threads: number, revectorize?: boolean): Promise<WasmRuntime> {
  return openWasmBackend({ threads, kernelsFile: buildKernels(), ...(revectorize !== undefined && { revectorize }) });
}

/** `length` floats in [-1, 1) that depend on the seed only. */
export function noise(length: number, seed: number): Float32Array {
  let state = seed * 2654435761 + 1;
  // Millions of them at times: Float32Array.from takes six times as long.
  const values = new Float32Array(length);
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    values[i] = state / 2147483648 - 1;
  }
  return values;
}
