/** Matrices as kernels take them. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import type { WebGpuBackend } from '../backend.ts';
import type { GpuBuffer } from '../pool.ts';
import type { MatrixFormat, OperandForm } from './operand.ts';

/** A matrix as it lies in a buffer: `lines` of `length` numbers. */
export interface Matrix {
  readonly buffer: GpuBuffer;
  readonly format: MatrixFormat;
  readonly lines: number;
  readonly length: number;
  /** Stored as the transpose of what is multiplied. */
  readonly transposed: boolean;
  /** Numbers from one matrix of a batch to the next; 0: all use the same. */
  readonly batchStride?: number;
  /** Of a matrix that one binding can't hold: its lines, some after the others. `buffer` is then the first one's. */
  readonly parts?: readonly Matrix[];
}

/** A second pair of factors whose product is added: the low-rank part of a linear layer under an adapter. */
export interface Second {
  readonly a: Matrix;
  readonly b: Matrix;
  readonly scale: number;
}

export function formOf({ format, length, batchStride = 0 }: Matrix): OperandForm {
  return { format, vectors: length % 4 === 0 && batchStride % 4 === 0 };
}

/** A tensor as a matrix of its last dimension's lines. */
export function matrixOf(backend: WebGpuBackend, tensor: TensorInfo, transposed = false): Matrix {
  const [lines = 1, length = 1] = tensor.shape.slice(-2);
  const format = backend.format(tensor);
  if (format === 'i32') throw new Error('Expected a matrix of floats, got integers');
  const whole = { format, lines, length, transposed };
  const parts = backend.parts(tensor);
  const [first] = parts ?? [];
  if (parts === null || first === undefined) return { ...whole, buffer: backend.anyBuffer(tensor) };
  return { ...whole, buffer: first.buffer, parts: parts.map((part) => ({ ...whole, ...part })) };
}
