/** Registers the fused transformer kernels. One line a kernel file. */
import { registerAttention } from './attention.ts';
import { registerDecodeAttention } from './decode-attention.ts';
import { registerLogSoftmax } from './log-softmax.ts';
import { registerLoraLinear } from './lora-linear.ts';
import { registerRmsNorm } from './rms-norm.ts';
import { registerRope } from './rope.ts';
import type { WasmRuntime } from './runtime.ts';
import { registerSample } from './sample.ts';
import { registerSwiGlu } from './swiglu.ts';

/** Registers RMSNorm, RoPE, SwiGLU, attention, log-softmax, adapters and sampling. */
export function registerFusedKernels(runtime: WasmRuntime): void {
  registerRmsNorm(runtime);
  registerRope(runtime);
  registerSwiGlu(runtime);
  registerAttention(runtime);
  registerDecodeAttention(runtime);
  registerLogSoftmax(runtime);
  registerLoraLinear(runtime);
  registerSample(runtime);
}
