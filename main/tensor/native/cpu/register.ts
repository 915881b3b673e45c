/** Puts our kernels for the processor in place of those in TensorFlow's ops. One line a kernel file. */
import { getKernel, type KernelFunc, registerKernel, unregisterKernel } from '@tensorflow/tfjs-core';
import { registerDecodeRun } from '../../ops/decode-step.ts';
import type { NativeBackend } from '../binding.ts';
import { openCollection } from '../garbage.ts';
import { registerAdamW } from './adamw.ts';
import { registerAttention } from './attention.ts';
import { registerCausalConvolution } from './causal-convolution.ts';
import { openNativeDecodeRun } from './decode-run.ts';
import { registerGatedDelta } from './gated-delta.ts';
import { type CpuKernel, type Inputs, type RegisterCpu, runCpuKernel } from './kernel.ts';
import { registerLoraLinear } from './lora-linear.ts';
import { registerMatMul } from './matmul.ts';
import { registerRowKernels } from './rows.ts';
import type { KernelBinding } from './run-kernel.ts';
import { registerSoftmax } from './softmax.ts';
import { registerStateSpace } from './state-space.ts';

export function registerCpuKernels(
  backend: NativeBackend,
  binding: KernelBinding,
  backendName: string,
  threads: number,
): void {
  binding.growPool(threads);
  const register: RegisterCpu = <A>(kernelName: string, kernel: CpuKernel<A>, meant?: (inputs: Inputs) => boolean) => {
    const before = getKernel(kernelName, backendName);
    if (before != null) unregisterKernel(kernelName, backendName);
    const own: KernelFunc = ({ inputs, attrs }) =>
      runCpuKernel(backend, binding, kernel, inputs, (attrs ?? {}) as unknown as A);
    const kernelFunc: KernelFunc =
      meant === undefined || before == null
        ? own
        : (params) => (meant(params.inputs) ? own : before.kernelFunc)(params);
    registerKernel({ kernelName, backendName, kernelFunc });
  };
  registerMatMul(register);
  registerLoraLinear(register);
  registerRowKernels(register);
  registerAttention(register);
  registerCausalConvolution(register);
  registerGatedDelta(register);
  registerStateSpace(register);
  registerSoftmax(register);
  registerAdamW(register);
  const collectGarbage = openCollection();
  registerDecodeRun(backendName, (...run) => openNativeDecodeRun(backend, binding, ...run, collectGarbage));
}
