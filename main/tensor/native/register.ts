/** Puts our kernels for the native backend in place. One line a kernel file. */
import { getKernel, type NamedAttrMap, registerKernel, type TensorInfo, unregisterKernel } from '@tensorflow/tfjs-core';
import { registerIdentity } from '../identity.ts';
import { registerKvCache } from '../ops/decode-attention.ts';
import { registerWeightMaker } from '../weights.ts';
import type { NativeBackend } from './binding.ts';
import { registerCpuKernels } from './cpu/register.ts';
import { hasKernels } from './cpu/run-kernel.ts';
import { registerAdamW } from './kernels/adamw.ts';
import { registerAttention } from './kernels/attention.ts';
import type { KernelInputs, NativeKernel, Register } from './kernels/kernel.ts';
import { registerLogSoftmax } from './kernels/log-softmax.ts';
import { registerMatMul } from './kernels/matmul.ts';
import { registerRmsNorm } from './kernels/rms-norm.ts';
import { registerRope } from './kernels/rope.ts';
import { registerRows } from './kernels/rows.ts';
import { registerSample } from './kernels/sample.ts';
import { registerSwiglu } from './kernels/swiglu.ts';
import { openNativeKvCache } from './kv-cache.ts';
import { type Handle, toTensor, withOps } from './ops.ts';
import { nativeWeight } from './weights.ts';

export function registerNativeKernels(backend: NativeBackend, backendName: string, threads: number): void {
  const register: Register = (kernelName, kernel) => {
    if (getKernel(kernelName, backendName) != null) unregisterKernel(kernelName, backendName);
    registerKernel({
      kernelName,
      backendName,
      kernelFunc: ({ inputs, attrs }) => runKernel(backend, kernel, inputs as Record<string, TensorInfo>, attrs),
    });
  };
  registerIdentity(backend, backendName);
  registerMatMul(register);
  registerRmsNorm(register);
  registerRope(register);
  registerSwiglu(register);
  registerRows(register);
  registerAttention(register);
  registerLogSoftmax(register);
  registerSample(register);
  registerAdamW(register);
  registerWeightMaker(backendName, (source, shape, precision) => nativeWeight(backend, source, shape, precision));
  const { binding } = backend;
  if (!backend.isUsingGpuDevice && hasKernels(binding)) registerCpuKernels(backend, binding, backendName, threads);
  else registerKvCache(backendName, (prefix, rows, shape) => openNativeKvCache(backend, prefix, rows, shape));
}

function runKernel<A>(
  backend: NativeBackend,
  kernel: NativeKernel<A>,
  inputs: Readonly<Record<string, TensorInfo>>,
  attrs: NamedAttrMap | undefined,
): TensorInfo | TensorInfo[] {
  const info = (name: string): TensorInfo => {
    const found = inputs[name];
    if (found === undefined)
      throw new Error(`Expected an input tensor "${name}", got ${Object.keys(inputs).join(', ')}`);
    return found;
  };
  return withOps(backend, (ops) => {
    const given: KernelInputs = { info, handle: (name) => ops.of(info(name)) };
    const outputs = kernel(ops, given, (attrs ?? {}) as unknown as A);
    const keep = (handle: Handle): TensorInfo => toTensor(backend, ops.keep(handle));
    return Array.isArray(outputs) ? outputs.map(keep) : keep(outputs as Handle);
  });
}
