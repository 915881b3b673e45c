/**
 * Kernels of our own in the addon (../addon/), for computing on the processor: how they are called and what stands in
 * for them where an addon was built without them.
 */
import type { Tensor, TensorInfo } from '@tensorflow/tfjs-core';
import type { NativeBackend, NativeBinding } from '../binding.ts';
import { BFLOAT16, FLOAT, type Handle, handleOf, INT32, toTensor } from '../ops.ts';

/** What our addon has more than the package's. */
export interface KernelBinding extends NativeBinding {
  /** Runs a kernel on tensors, inputs before outputs, and numbers. */
  runKernel(name: string, tensors: readonly number[], numbers: readonly number[]): void;
  allocateTensor(shape: readonly number[], dtype: number): number;
  growPool(count: number): void;
}

/** The inputs and attributes of one call; what it asks for that isn't there throws. */
export interface Call<A> {
  readonly attrs: A;
  /** An input, on the processor as float32 or int32. */
  input(name: string): Handle;
  /** The same; a large weight may be bfloat16. */
  weight(name: string): Handle;
  /** The same, to be changed in its own memory. */
  changed(name: string): Handle;
  /** An input's numbers, copied. */
  host(name: string): Float32Array | Int32Array;
  output(shape: readonly number[], dtype?: number): Handle;
  /** Memory for the length of the call. */
  scratch(shape: readonly number[]): Handle;
  run(kernel: string, tensors: readonly Handle[], numbers: readonly number[]): void;
}

/** A kernel in terms of such calls; it gives back its outputs. */
export type CpuKernel<A> = (call: Call<A>) => Handle | readonly Handle[];

/** Whether the addon brings our kernels. */
export function hasKernels(binding: NativeBinding): binding is KernelBinding {
  return typeof (binding as Partial<KernelBinding>).runKernel === 'function';
}

/** Runs a kernel for tfjs. */
export function runCpuKernel<A>(
  backend: NativeBackend,
  binding: KernelBinding,
  kernel: CpuKernel<A>,
  inputs: Readonly<Record<string, TensorInfo | undefined>>,
  attrs: A,
): TensorInfo | TensorInfo[] {
  const made = new Set<number>();
  const given = (name: string): TensorInfo => {
    const found = inputs[name];
    if (found !== undefined) return found;
    throw new Error(`Expected an input tensor "${name}", got ${Object.keys(inputs).join(', ')}`);
  };
  const typed = (name: string, types: readonly number[]): Handle => {
    const handle = handleOf(backend, given(name));
    if (types.includes(handle.dtype)) return handle;
    throw new Error(`Expected "${name}" to be of type ${types.join(' or ')}, got ${handle.dtype}`);
  };
  const allocate = (shape: readonly number[], dtype: number): Handle => {
    const id = binding.allocateTensor(shape, dtype);
    made.add(id);
    return { id, shape, dtype };
  };
  const call: Call<A> = {
    attrs,
    input: (name) => typed(name, [FLOAT, INT32]),
    weight: (name) => typed(name, [FLOAT, BFLOAT16]),
    changed: (name) => {
      takeMemory(backend, binding, given(name) as Tensor);
      return typed(name, [FLOAT]);
    },
    host: (name) => binding.tensorDataSync(typed(name, [FLOAT, INT32]).id) as Float32Array | Int32Array,
    output: (shape, dtype = FLOAT) => allocate(shape, dtype),
    scratch: (shape) => allocate(shape, FLOAT),
    run: (name, tensors, numbers) =>
      binding.runKernel(
        name,
        tensors.map(({ id }) => id),
        numbers,
      ),
  };
  const keep = (handle: Handle): TensorInfo => {
    made.delete(handle.id);
    return toTensor(backend, handle);
  };
  try {
    const outputs = kernel(call);
    return Array.isArray(outputs) ? outputs.map(keep) : keep(outputs as Handle);
  } finally {
    for (const id of made) binding.deleteTensor(id);
  }
}

const ownMemory = new WeakSet<object>();

/** Tensors may share memory with each other, or with the array that they were made of: what is changed gets its own. */
function takeMemory(backend: NativeBackend, binding: KernelBinding, tensor: Tensor): void {
  if (ownMemory.has(tensor.dataId)) return;
  const shared = handleOf(backend, tensor);
  const id = binding.allocateTensor(shared.shape, FLOAT);
  const count = shared.shape.reduce((product, size) => product * size, 1);
  binding.runKernel('copy', [shared.id, id], [count]);
  binding.deleteTensor(shared.id);
  backend.tensorMap.get(tensor.dataId).id = id;
  ownMemory.add(tensor.dataId);
}

/** Numbers of a handle. */
export function sizeOf({ shape }: Handle): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** Throws unless a handle has this shape: a kernel would read beyond it. */
export function expectShape(what: string, { shape }: Handle, expected: readonly number[]): void {
  if (shape.length === expected.length && shape.every((size, axis) => size === expected[axis])) return;
  throw new RangeError(`Expected ${what} to be [${expected.join(', ')}], got [${shape.join(', ')}]`);
}

/** The two sizes of a matrix. */
export function matrixSize(what: string, { shape }: Handle): readonly [rows: number, columns: number] {
  const [rows, columns] = shape;
  if (rows !== undefined && columns !== undefined && shape.length === 2) return [rows, columns];
  throw new RangeError(`Expected ${what} to be a matrix, got [${shape.join(', ')}]`);
}
