/** Weights go up in pieces as they are read; frozen matrices may stay in the 16 bits that the file has. */
import * as tf from '@tensorflow/tfjs-core';
import type { WeightPrecision, WeightSource } from '../weights.ts';
import type { Format, WebGpuBackend } from './backend.ts';

/** Numbers of a piece: 16 MiB of float32. */
const PIECE = 2 ** 22;

export function gpuWeight(
  backend: WebGpuBackend,
  source: WeightSource,
  shape: readonly number[],
  precision: WeightPrecision,
): tf.Tensor {
  const format = formatFor(source, shape, precision);
  if (format !== 'f32') backend.cacheFormat = 'f16';
  const out = backend.uploadTarget(shape, format);
  const buffer = backend.anyBuffer(out);
  const size = shape.reduce((product, length) => product * length, 1);
  for (let first = 0; first < size; first += PIECE) {
    const count = Math.min(PIECE, size - first);
    const piece = format === 'f32' ? source.readPart(first, count).buffer : sixteenBits(source, first, count, format);
    backend.gpu.upload(buffer, padded(piece), first * (format === 'f32' ? 4 : 2));
  }
  return tf.engine().makeTensorFromTensorInfo(out);
}

/** Vectors stay float32: they are small. Kernels read 16-bit lines four numbers at a time. */
function formatFor({ type }: WeightSource, shape: readonly number[], precision: WeightPrecision): Format {
  if (precision === 'float32' || shape.length !== 2 || (shape[1] ?? 0) % 4 !== 0) return 'f32';
  if (precision === 'stored' && type === 'F32') return 'f32';
  return type === 'F16' ? 'f16' : 'bf16';
}

function sixteenBits(source: WeightSource, first: number, count: number, format: Format): ArrayBuffer {
  if (source.type !== 'F32') {
    const raw = source.readRaw(first, count);
    return raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength);
  }
  if (format !== 'bf16') throw new Error('Expected float32 weights to be kept as bfloat16');
  const bits = new Uint32Array(source.readPart(first, count).buffer);
  // To the nearest, ties to even, as torch rounds.
  return Uint16Array.from(bits, (word) => (word + 0x7fff + ((word >>> 16) & 1)) >>> 16).buffer;
}

/** Uploads are whole words. */
function padded(bytes: ArrayBuffer): ArrayBuffer {
  if (bytes.byteLength % 4 === 0) return bytes;
  const out = new Uint8Array(Math.ceil(bytes.byteLength / 4) * 4);
  out.set(new Uint8Array(bytes));
  return out.buffer;
}
