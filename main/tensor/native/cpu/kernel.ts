/**
 * What a kernel for the processor (../addon/) gets from tfjs and gives back. Shapes and indices are checked in the addon,
 * before it reads or writes.
 */
import type { Tensor, TensorInfo } from '@tensorflow/tfjs-core';
import type { NativeBackend } from '../binding.ts';
import { BFLOAT16, FLOAT, type Handle, handleOf, INT32, toTensor } from '../ops.ts';
import { type KernelBinding, type KernelName, runKernel } from './run-kernel.ts';

/** The inputs and attributes of one call; what it asks for that isn't there throws. */
export interface Call<A> {
  readonly attrs: A;
  /** An input, on the processor as float32 or int32. */
  input(name: string): Handle;
  /** The same; a large weight may be bfloat16. */
  weight(name: string): Handle;
  /** The same, to be changed in its own memory. */
  changed(name: string): Handle;
  /** Whether an optional input was given. */
  has(name: string): boolean;
  /** An input's numbers, copied. */
  host(name: string): Float32Array | Int32Array;
  output(shape: readonly number[], dtype?: number): Handle;
  /** Memory for the length of the call. */
  scratch(shape: readonly number[]): Handle;
  /** Runs a kernel of the addon; an optional tensor may be undefined. */
  run(
    kernel: KernelName,
    tensors: Readonly<Record<string, Handle | undefined>>,
    numbers?: Readonly<Record<string, number | boolean>>,
  ): void;
}

/** A kernel in terms of such calls; it gives back its outputs. */
export type CpuKernel<A> = (call: Call<A>) => Handle | readonly Handle[];

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
    changed: (name) => ownMemoryOf(backend, binding, given(name) as Tensor, typed(name, [FLOAT])),
    has: (name) => inputs[name] !== undefined,
    host: (name) => binding.tensorDataSync(typed(name, [FLOAT, INT32]).id) as Float32Array | Int32Array,
    output: (shape, dtype = FLOAT) => allocate(shape, dtype),
    scratch: (shape) => allocate(shape, FLOAT),
    run: (name, tensors, numbers) => runKernel(binding, name, tensors, numbers),
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
export function ownMemoryOf(
  backend: NativeBackend,
  binding: KernelBinding,
  { dataId }: Tensor,
  shared: Handle,
): Handle {
  if (ownMemory.has(dataId)) return shared;
  const own = { ...shared, id: binding.allocateTensor(shared.shape, FLOAT) };
  runKernel(binding, 'copy', { from: shared, to: own });
  binding.deleteTensor(shared.id);
  backend.tensorMap.get(dataId).id = own.id;
  ownMemory.add(dataId);
  return own;
}

/** The two sizes of a matrix. */
export function matrixSize(what: string, { shape }: Handle): readonly [rows: number, columns: number] {
  const [rows, columns] = shape;
  if (rows !== undefined && columns !== undefined && shape.length === 2) return [rows, columns];
  throw new RangeError(`Expected ${what} to be a matrix, got [${shape.join(', ')}]`);
}

/** The tensors of a call, by name. */
export type Inputs = Readonly<Record<string, TensorInfo | undefined>>;

/** Registers one kernel; what it is not `meant` for goes to the one that was there before. */
export type RegisterCpu = <A>(name: string, kernel: CpuKernel<A>, meant?: (inputs: Inputs) => boolean) => void;
