/** Buffers that a decoding run owns, and ways to fill them. */
import type * as tf from '@tensorflow/tfjs-core';
import type { WebGpuBackend } from './backend.ts';
import { type Matrix, matrixOf } from './kernels/matrix.ts';
import type { GpuBuffer } from './pool.ts';

export interface Packer {
  own(bytes: number): GpuBuffer;
  /** Tensors one after the other; a number stands for so many zeros. */
  sideBySide(tensors: readonly (tf.Tensor | number)[]): GpuBuffer;
  matrix(tensor: tf.Tensor2D): Matrix;
  dispose(): void;
}

export function openPacker(backend: WebGpuBackend): Packer {
  const { gpu } = backend;
  const owned: GpuBuffer[] = [];
  const own = (bytes: number): GpuBuffer => {
    const buffer = gpu.take(Math.max(16, bytes));
    owned.push(buffer);
    return buffer;
  };
  return {
    own,
    sideBySide: (tensors) => {
      const buffer = own(4 * tensors.reduce<number>((sum, part) => sum + sizeOf(part), 0));
      let at = 0;
      for (const part of tensors) {
        if (typeof part === 'number') gpu.clear(buffer, at, part);
        else gpu.copy(backend.buffer(part), 0, buffer, at, part.size);
        at += sizeOf(part);
      }
      return buffer;
    },
    matrix: (tensor) => matrixOf(backend, tensor, true),
    dispose: () => {
      for (const buffer of owned) gpu.give(buffer);
    },
  };
}

export const sizeOf = (part: tf.Tensor | number): number => (typeof part === 'number' ? part : part.size);
