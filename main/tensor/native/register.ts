/** Puts our kernels for the native backend in place. One line a kernel file. */
import { getKernel, type NamedAttrMap, registerKernel, type TensorInfo, unregisterKernel } from '@tensorflow/tfjs-core';
import { type NoBfloat16, registerBfloat16 } from '../compute-dtype.ts';
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
  registerBfloat16(backendName, missingBfloat16(backend));
  if (!backend.isUsingGpuDevice && hasKernels(binding)) registerCpuKernels(backend, binding, backendName, threads);
  else registerKvCache(backendName, (prefix, rows, shape) => openNativeKvCache(backend, prefix, rows, shape));
}

/** Why products can't be computed in bfloat16; null: they can. */
function missingBfloat16({ binding, isUsingGpuDevice }: NativeBackend): NoBfloat16 | null {
  if (isUsingGpuDevice)
    return { why: 'with CUDA, the native backend computes in float32', remedy: 'Set compute_dtype to float32.' };
  const bfloat16 = hasKernels(binding) ? binding.bfloat16 : undefined;
  if (bfloat16 === undefined)
    return {
      why: "the native backend's addon was built for an earlier version of Braid",
      remedy: 'Set it up again in Settings, Native backend, or set compute_dtype to float32.',
    };
  if (bfloat16) return null;
  const why = 'this processor, or the compiler that built the native backend, has no AVX-512 BF16';
  return { why, remedy: 'Set compute_dtype to float32.' };
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
