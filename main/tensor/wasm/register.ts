/** Registers every kernel of ours for the wasm backend. One line a kernel file. */
import { registerDecodeRun } from '../ops/decode-step.ts';
import { registerAdamW } from './adamw.ts';
import { registerAdd } from './add.ts';
import { openWasmDecodeRun } from './decode-run.ts';
import { registerIdentity } from './identity.ts';
import { registerMatMul } from './matmul.ts';
import { registerFusedKernels } from './register-fused.ts';
import { registerRows } from './rows.ts';
import type { WasmRuntime } from './runtime.ts';
import { registerWeights } from './weights.ts';

/** Registers our kernels; later calls replace those of an earlier runtime. */
export function registerKernels(runtime: WasmRuntime): void {
  // Matrix products, optimiser, rows.
  registerMatMul(runtime);
  registerIdentity(runtime);
  registerAdd(runtime);
  registerAdamW(runtime);
  registerRows(runtime);
  registerWeights(runtime);
  registerFusedKernels(runtime);
  registerDecodeRun('wasm', (...run) => openWasmDecodeRun(runtime, ...run));
}
