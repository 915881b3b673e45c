/**
 * Kernels that work on whole vectors need head_dim to be a multiple of some width. Other heads are padded with zeros,
 * which leave the scores unchanged, and the padding of the result is cut off again.
 */
import * as tf from '@tensorflow/tfjs-core';

const MULTIPLES: Readonly<Record<string, number>> = { wasm: 8, webgpu: 4 };

/** The head_dim that the current backend's attention computes with, at least `headDim`. */
export function kernelHeadDim(headDim: number): number {
  const multiple = MULTIPLES[tf.getBackend()] ?? 1;
  return Math.ceil(headDim / multiple) * multiple;
}

/** [N, heads*from] → [N, heads*to], each head followed by zeros. */
export function widenHeads(x: tf.Tensor2D, from: number, to: number): tf.Tensor2D {
  const [n, width] = x.shape;
  const heads = width / from;
  const padding: [number, number][] = [
    [0, 0],
    [0, 0],
    [0, to - from],
  ];
  return tf.reshape(tf.pad(tf.reshape(x, [n, heads, from]), padding), [n, heads * to]);
}

/** The inverse of `widenHeads`. */
export function narrowHeads(x: tf.Tensor2D, from: number, to: number): tf.Tensor2D {
  const [n, width] = x.shape;
  const heads = width / from;
  return tf.reshape(tf.slice(tf.reshape(x, [n, heads, from]), [0, 0, 0], [n, heads, to]), [n, heads * to]);
}
