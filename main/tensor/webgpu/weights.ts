/** Weights go up in pieces as they are read; frozen matrices stay in the 16 bits that the file has, or in 8 or 4. */
import * as tf from '@tensorflow/tfjs-core';
import { isQuantised, QUANTISED_BLOCK, quantisedDataBytes } from '../quantised.ts';
import { bfloat16Bits, packedPart, type WeightPrecision, type WeightSource } from '../weights.ts';
import { bytesOf, type Format, type WebGpuBackend } from './backend.ts';
import { tooLarge } from './faults.ts';
import { type GpuBuffer, roundedSize } from './pool.ts';

/** Numbers of a piece: 16 MiB of float32. */
const PIECE = 2 ** 22;

/** Null where a quantised matrix has lines that kernels can't read four numbers at a time. */
export function gpuWeight(
  backend: WebGpuBackend,
  source: WeightSource,
  shape: readonly number[],
  precision: WeightPrecision,
): tf.Tensor | null {
  const format = formatFor(source, shape, precision);
  if (format === null) return null;
  const size = shape.reduce((product, length) => product * length, 1);
  const split = linesOfAPart(shape, format, backend.gpu.largestBuffer);
  if (split === null) {
    const out = backend.uploadTarget(shape, format);
    upload(backend, backend.anyBuffer(out), source, { from: 0, size }, format);
    return tf.engine().makeTensorFromTensorInfo(out);
  }
  const [lines = 0, length = 0] = shape;
  const out = backend.splitTarget([lines, length], format, split);
  (backend.parts(out) ?? []).forEach((part, i) => {
    upload(backend, part.buffer, source, { from: i * split * length, size: part.lines * length }, format);
  });
  return tf.engine().makeTensorFromTensorInfo(out);
}

/** Lines for each of several buffers, where one can't hold them all: whole blocks of them. Null where one can. */
function linesOfAPart(shape: readonly number[], format: Format, largest: number): number | null {
  const [lines = 0, length = 0] = shape;
  if (shape.length !== 2 || roundedSize(bytesOf(lines * length, format)) <= largest) return null;
  // Sizes are rounded up by at most an eighth.
  const most = Math.floor((0.875 * largest) / (bytesOf(QUANTISED_BLOCK * length, format) / QUANTISED_BLOCK));
  const step = isQuantised(format) ? QUANTISED_BLOCK : 4;
  if (most < step) throw tooLarge(bytesOf(lines * length, format), largest);
  return most - (most % step);
}

interface Range {
  /** The first number of the file's tensor. */
  readonly from: number;
  readonly size: number;
}

function upload(
  backend: WebGpuBackend,
  buffer: GpuBuffer,
  source: WeightSource,
  { from, size }: Range,
  format: Exclude<Format, 'i32'>,
): void {
  for (let first = 0; first < size; first += PIECE) {
    const count = Math.min(PIECE, size - first);
    if (isQuantised(format)) {
      const { data, scales } = packedPart(source, from + first, count, format);
      backend.gpu.upload(buffer, data.buffer, quantisedDataBytes(first, format));
      backend.gpu.upload(buffer, scales.buffer, quantisedDataBytes(size, format) + (4 * first) / QUANTISED_BLOCK);
      continue;
    }
    const [at, width] = [from + first, format === 'f32' ? 4 : 2];
    const piece = format === 'f32' ? source.readPart(at, count).buffer : sixteenBits(source, at, count, format);
    backend.gpu.upload(buffer, padded(piece), first * width);
  }
}

/** Vectors stay float32: they are small. Kernels read packed lines four numbers at a time. */
function formatFor(
  { type }: WeightSource,
  shape: readonly number[],
  precision: WeightPrecision,
): Exclude<Format, 'i32'> | null {
  const packs = shape.length === 2 && (shape[1] ?? 0) % 4 === 0;
  if (isQuantised(precision)) return packs ? precision : null;
  if (precision === 'float32' || !packs) return 'f32';
  if (precision === 'stored' && type === 'F32') return 'f32';
  return type === 'F16' ? 'f16' : 'bf16';
}

function sixteenBits(source: WeightSource, first: number, count: number, format: Format): ArrayBuffer {
  if (format === 'bf16') return bfloat16Bits(source, first, count).buffer;
  if (source.type !== 'F16') throw new Error(`Expected a file's own float16 numbers, got ${source.type}`);
  const { buffer, byteOffset, byteLength } = source.readRaw(first, count);
  return buffer.slice(byteOffset, byteOffset + byteLength);
}

/** Uploads are whole words. */
function padded(bytes: ArrayBuffer): ArrayBuffer {
  if (bytes.byteLength % 4 === 0) return bytes;
  const out = new Uint8Array(Math.ceil(bytes.byteLength / 4) * 4);
  out.set(new Uint8Array(bytes));
  return out.buffer;
}
