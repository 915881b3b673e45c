/** What a kernel in terms of TensorFlow's ops is given, and how it is registered. */
import type { Tensor, TensorInfo } from '@tensorflow/tfjs-core';
import type { Handle, Ops } from '../ops.ts';

/** The inputs of a kernel call, as handles and as tfjs knows them. */
export interface KernelInputs {
  handle(name: string): Handle;
  info(name: string): TensorInfo;
}

/** A kernel in terms of ops; it gives back its outputs. */
export type NativeKernel<A> = (ops: Ops, inputs: KernelInputs, attrs: A) => Handle | readonly Handle[];

/** Registers one kernel in place of the portable or the package's own. */
export type Register = <A>(name: string, kernel: NativeKernel<A>) => void;

/** The values of an int32 input. They lie in host memory on every device. */
export function hostInts(ops: Ops, info: TensorInfo): Int32Array {
  return ops.backend.readSync((info as Tensor).dataId) as Int32Array;
}
