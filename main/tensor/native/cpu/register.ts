/** Puts our kernels for the processor in place of those in TensorFlow's ops. One line a kernel file. */
import { getKernel, type KernelFunc, registerKernel, type TensorInfo, unregisterKernel } from '@tensorflow/tfjs-core';
import type { NativeBackend } from '../binding.ts';
import { registerAdamW } from './adamw.ts';
import { registerAttention } from './attention.ts';
import { type CpuKernel, type KernelBinding, runCpuKernel } from './kernel.ts';
import { registerLoraLinear } from './lora-linear.ts';
import { registerMatMul } from './matmul.ts';
import { registerRowKernels } from './rows.ts';
import { registerSoftmax } from './softmax.ts';

type Inputs = Readonly<Record<string, TensorInfo | undefined>>;

/** Registers one kernel; what it is not `meant` for goes to the one that was there before. */
export type RegisterCpu = <A>(name: string, kernel: CpuKernel<A>, meant?: (inputs: Inputs) => boolean) => void;

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
  registerSoftmax(register);
  registerAdamW(register);
}
