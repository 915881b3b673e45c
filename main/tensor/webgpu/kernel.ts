/** How kernels of this backend are written and registered. */
import {
  getKernel,
  type NamedTensorInfoMap,
  registerKernel,
  type TensorInfo,
  unregisterKernel,
} from '@tensorflow/tfjs-core';
import { WEBGPU_BACKEND, type WebGpuBackend } from './backend.ts';

/** What a kernel is called with. */
export interface KernelCall<A> {
  readonly backend: WebGpuBackend;
  readonly attrs: A;
  /** The input of this name. */
  input(name: string): TensorInfo;
  has(name: string): boolean;
}

export type Kernel<A> = (call: KernelCall<A>) => TensorInfo | TensorInfo[];

export type Register = <A>(name: string, kernel: Kernel<A>) => void;

/** Registers kernels for one open backend, in place of an earlier one's. */
export function registerFor(backend: WebGpuBackend): Register {
  return (kernelName, kernel) => {
    if (getKernel(kernelName, WEBGPU_BACKEND) != null) unregisterKernel(kernelName, WEBGPU_BACKEND);
    registerKernel({
      kernelName,
      backendName: WEBGPU_BACKEND,
      kernelFunc: ({ inputs, attrs }) =>
        backend.allOrNone(() =>
          kernel({
            backend,
            attrs: (attrs ?? {}) as never,
            input: (name) => inputOf(inputs, name),
            has: (name) => inputs[name] != null,
          }),
        ),
    });
  };
}

function inputOf(inputs: NamedTensorInfoMap, name: string): TensorInfo {
  const found = inputs[name];
  if (found == null) throw new Error(`Expected an input tensor "${name}", got ${Object.keys(inputs).join(', ')}`);
  return found;
}

export function sizeOf({ shape }: { readonly shape: readonly number[] }): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** Workgroups for so many invocations. */
export function groupsFor(invocations: number, workgroup: number): number {
  return Math.ceil(invocations / workgroup);
}
