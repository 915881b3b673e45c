/** Puts our kernels for the native backend in place. One line a kernel file. */
import {
  getKernel,
  type NamedAttrMap,
  registerKernel,
  type Tensor,
  type TensorInfo,
  unregisterKernel,
} from '@tensorflow/tfjs-core';
import { registerKvCache } from '../ops/decode-attention.ts';
import { registerWeightMaker } from '../weights.ts';
import type { NativeBackend } from './binding.ts';
import { hasKernels } from './cpu/kernel.ts';
import { registerCpuKernels } from './cpu/register.ts';
import { registerAdamW } from './kernels/adamw.ts';
import { registerAttention } from './kernels/attention.ts';
import { registerIdentity } from './kernels/identity.ts';
import { registerLogSoftmax } from './kernels/log-softmax.ts';
import { registerMatMul } from './kernels/matmul.ts';
import { registerRmsNorm } from './kernels/rms-norm.ts';
import { registerRope } from './kernels/rope.ts';
import { registerRows } from './kernels/rows.ts';
import { registerSample } from './kernels/sample.ts';
import { registerSwiglu } from './kernels/swiglu.ts';
import { openNativeKvCache } from './kv-cache.ts';
import { type Handle, type Ops, toTensor, withOps } from './ops.ts';
import { nativeWeight } from './weights.ts';

/** The inputs of a kernel call, as handles and as tfjs knows them. */
export interface KernelInputs {
  handle(name: string): Handle;
  info(name: string): TensorInfo;
}

/** A kernel in terms of ops; it gives back its outputs. */
export type NativeKernel<A> = (ops: Ops, inputs: KernelInputs, attrs: A) => Handle | readonly Handle[];

/** Registers one kernel in place of the portable or the package's own. */
export type Register = <A>(name: string, kernel: NativeKernel<A>) => void;

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

/** The values of an int32 input. They lie in host memory on every device. */
export function hostInts(ops: Ops, info: TensorInfo): Int32Array {
  return ops.backend.readSync((info as Tensor).dataId) as Int32Array;
}
