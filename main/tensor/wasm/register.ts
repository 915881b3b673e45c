/** Registers every kernel of ours for the wasm backend. One line a kernel file. */
import { registerIdentity } from '../identity.ts';
import { registerDecodeRun } from '../ops/decode-step.ts';
import { registerAdamW } from './adamw.ts';
import { registerAdd } from './add.ts';
import { registerAttention } from './attention.ts';
import { registerCausalConvolution } from './causal-convolution.ts';
import { registerSigmoidGate } from './columns.ts';
import { registerDecodeAttention } from './decode-attention.ts';
import { openWasmDecodeRun } from './decode-run.ts';
import { registerGatedDelta } from './gated-delta.ts';
import { registerGelu } from './gelu.ts';
import { registerLayerNorm } from './layer-norm.ts';
import { registerLogSoftmax } from './log-softmax.ts';
import { registerLoraLinear } from './lora-linear.ts';
import { registerMatMul } from './matmul.ts';
import { registerRmsNorm } from './rms-norm.ts';
import { registerRope } from './rope.ts';
import { registerRows } from './rows.ts';
import type { WasmRuntime } from './runtime.ts';
import { registerSample } from './sample.ts';
import { registerStateSpace } from './state-space.ts';
import { registerSwiGlu } from './swiglu.ts';
import { registerWeights } from './weights.ts';

/** Registers our kernels; later calls replace those of an earlier runtime. */
export function registerKernels(runtime: WasmRuntime): void {
  // Matrix products, optimiser, rows.
  registerMatMul(runtime);
  registerIdentity(runtime.backend, 'wasm');
  registerAdd(runtime);
  registerAdamW(runtime);
  registerRows(runtime);
  registerWeights(runtime);
  // What transformers are made of.
  registerRmsNorm(runtime);
  registerLayerNorm(runtime);
  registerRope(runtime);
  registerSwiGlu(runtime);
  registerSigmoidGate(runtime);
  registerGelu(runtime);
  registerAttention(runtime);
  registerDecodeAttention(runtime);
  registerCausalConvolution(runtime);
  registerGatedDelta(runtime);
  registerStateSpace(runtime);
  registerLogSoftmax(runtime);
  registerLoraLinear(runtime);
  registerSample(runtime);
  registerDecodeRun('wasm', (...run) => openWasmDecodeRun(runtime, ...run));
}
