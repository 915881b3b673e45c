/** The parts of @tensorflow/tfjs-node-gpu that we use, typed: its addon, and the tfjs backend over it. */
import type { KernelBackend } from '@tensorflow/tfjs-core';

/** An attribute of a TensorFlow op. */
export interface OpAttr {
  readonly name: string;
  readonly type: number;
  readonly value: boolean | number | string | readonly number[];
}

/** A tensor as the addon knows it; `dtype` is TensorFlow's number of the type. */
export interface TensorMetadata {
  readonly id: number;
  readonly shape: number[];
  readonly dtype: number;
}

export interface NativeBinding {
  createTensor(shape: readonly number[], dtype: number, values: Float32Array | Int32Array | Uint8Array): number;
  deleteTensor(id: number): void;
  tensorDataSync(id: number): Float32Array | Int32Array | Uint8Array;
  executeOp(name: string, attrs: readonly OpAttr[], inputs: readonly number[], outputs: number): TensorMetadata[];
  getNumOfTensors(): number;
  isUsingGpuDevice(): boolean;
  readonly TF_FLOAT: number;
  readonly TF_INT32: number;
  readonly TF_BOOL: number;
  readonly TF_RESOURCE: number;
  readonly TF_ATTR_STRING: number;
  readonly TF_ATTR_INT: number;
  readonly TF_ATTR_FLOAT: number;
  readonly TF_ATTR_BOOL: number;
  readonly TF_ATTR_TYPE: number;
  readonly TF_ATTR_SHAPE: number;
  readonly TF_Version: string;
}

/** What the backend keeps of a tensor; values that were not needed yet are still on the host. */
export interface NativeTensorData {
  readonly shape: readonly number[];
  readonly dtype: number;
  id: number;
  values: Float32Array | Int32Array | Uint8Array | null;
  refCount: number;
}

export interface NativeTensorMap {
  get(dataId: object): NativeTensorData;
  set(dataId: object, data: NativeTensorData): void;
}

/** The tfjs backend of the package. */
export interface NativeBackend extends KernelBackend {
  readonly binding: NativeBinding;
  readonly tensorMap: NativeTensorMap;
  readonly isUsingGpuDevice: boolean;
}

/** The package's constructor. */
export type NativeBackendClass = new (binding: NativeBinding, packageName: string) => NativeBackend;
