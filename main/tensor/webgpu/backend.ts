/** tfjs's view of the GPU: tensors whose data lies in GPU buffers. Kernels are registered beside it (register.ts). */
import {
  type BackendValues,
  DataStorage,
  type DataType,
  engine,
  KernelBackend,
  type TensorInfo,
  type TypedArray,
  util,
} from '@tensorflow/tfjs-core';
import type { PendingRead } from '../ops/pending-read.ts';
import { isQuantised, type Quantised, quantisedBytes } from '../quantised.ts';
import { tooLarge } from './faults.ts';
import type { Gpu } from './gpu.ts';
import type { GpuBuffer } from './pool.ts';

export const WEBGPU_BACKEND = 'webgpu';

/** How numbers lie in a buffer; tfjs calls all but int32 and bool "float32". */
export type Format = 'f32' | 'i32' | 'bf16' | 'f16' | Quantised;

/** Whether a buffer holds 32-bit numbers; others are frozen weights, which products and rows unpack. */
const isPlain = (format: Format): format is 'f32' | 'i32' => format === 'f32' || format === 'i32';

/** Some lines of a matrix in a buffer of their own. */
export interface BufferPart {
  readonly buffer: GpuBuffer;
  readonly lines: number;
}

interface Stored {
  readonly dtype: DataType;
  readonly size: number;
  readonly format: Format;
  refCount: number;
  /** Null until a kernel asks for it. */
  buffer: GpuBuffer | null;
  /** Of a matrix that one binding can't hold, in place of `buffer`. */
  readonly parts?: readonly BufferPart[];
  /** What was given from here, while it is the same as on the GPU: small tensors and all integers. */
  host: TypedArray | null;
}

/** Floats that are kept on the host too: constants and scalars, which kernels take as parameters. */
const SMALL = 64;

export class WebGpuBackend extends KernelBackend {
  readonly gpu: Gpu;
  readonly #data: DataStorage<Stored>;
  /** References that the kernel at work has made and not released; null: none is at work. */
  #made: object[] | null = null;

  constructor(gpu: Gpu) {
    super();
    this.gpu = gpu;
    this.#data = new DataStorage(this, engine());
  }

  override write(values: BackendValues | null, shape: number[], dtype: DataType): object {
    const dataId = {};
    this.move(dataId, values, shape, dtype, 1);
    return dataId;
  }

  override move(
    dataId: object,
    values: BackendValues | null,
    shape: number[],
    dtype: DataType,
    refCount: number,
  ): void {
    const size = util.sizeFromShape(shape);
    const format = formatOf(dtype);
    const stored: Stored = { dtype, size, format, refCount, buffer: null, host: null };
    this.#data.set(dataId, stored);
    if (values === null) return;
    const words = toWords(values as TypedArray, format);
    if (format === 'i32' || size <= SMALL) stored.host = words;
    else this.#upload(stored, words);
  }

  override readSync(dataId: object): TypedArray {
    const stored = this.#data.get(dataId);
    const { host, size, dtype, format } = stored;
    if (!isPlain(format))
      throw new Error(`Expected a tensor of 32 bits to read; ${format} weights are read where they were loaded from`);
    const words = host ?? this.#download(stored, size);
    if (dtype === 'bool') return Uint8Array.from(words as Int32Array) as unknown as TypedArray;
    return words === host ? words.slice() : words;
  }

  /** Starts to read 32-bit numbers, which are waited for later. */
  startRead(tensor: TensorInfo): PendingRead {
    return this.gpu.startRead(this.buffer(tensor), 4 * this.#data.get(tensor.dataId).size);
  }

  override async read(dataId: object): Promise<TypedArray> {
    return this.readSync(dataId);
  }

  override disposeData(dataId: object, force = false): boolean {
    if (!this.#data.has(dataId)) return true;
    const made = this.#made?.indexOf(dataId) ?? -1;
    if (made >= 0) this.#made?.splice(made, 1);
    const stored = this.#data.get(dataId);
    stored.refCount--;
    if (!force && stored.refCount > 0) return false;
    if (stored.buffer !== null) this.gpu.give(stored.buffer);
    for (const { buffer } of stored.parts ?? []) this.gpu.give(buffer);
    this.#data.delete(dataId);
    return true;
  }

  override refCount(dataId: object): number {
    return this.#data.has(dataId) ? this.#data.get(dataId).refCount : 0;
  }

  override incRef(dataId: object): void {
    this.#data.get(dataId).refCount++;
  }

  override numDataIds(): number {
    return this.#data.numDataIds();
  }

  override memory(): { unreliable: boolean } {
    return { unreliable: false };
  }

  override floatPrecision(): 16 | 32 {
    return 32;
  }

  override epsilon(): number {
    return 1e-7;
  }

  override dispose(): void {}

  /** Runs a kernel. What it made doesn't outlive a lack of memory: tfjs knows outputs only once it has returned. */
  allOrNone<T>(kernel: () => T): T {
    const outer = this.#made;
    const made: object[] = [];
    this.#made = made;
    try {
      return kernel();
    } catch (error) {
      for (const dataId of [...made]) this.disposeData(dataId);
      throw error;
    } finally {
      this.#made = outer;
    }
  }

  /** A tensor whose buffer a kernel is about to fill. */
  output(shape: readonly number[], dtype: DataType = 'float32', format: Format = formatOf(dtype)): TensorInfo {
    const dataId = {};
    const size = util.sizeFromShape([...shape]);
    const buffer = this.gpu.take(bytesOf(size, format));
    this.#data.set(dataId, { dtype, size, format, refCount: 1, buffer, host: null });
    this.#made?.push(dataId);
    return { dataId, shape: [...shape], dtype };
  }

  /** A tensor whose buffer is about to be filled from here: no command that is still to be run uses it. */
  uploadTarget(shape: readonly number[], format: Format): TensorInfo {
    const dataId = {};
    const size = util.sizeFromShape([...shape]);
    const buffer = this.gpu.takeForUpload(bytesOf(size, format));
    this.#data.set(dataId, { dtype: 'float32', size, format, refCount: 1, buffer, host: null });
    return { dataId, shape: [...shape], dtype: 'float32' };
  }

  /** A matrix in several buffers, each of at most `lines` lines: for weights that one binding can't hold. */
  splitTarget(shape: readonly [number, number], format: Format, lines: number): TensorInfo {
    const dataId = {};
    const [all, length] = shape;
    const parts = Array.from({ length: Math.ceil(all / lines) }, (_, i): BufferPart => {
      const count = Math.min(lines, all - i * lines);
      return { buffer: this.gpu.takeForUpload(bytesOf(count * length, format)), lines: count };
    });
    this.#data.set(dataId, {
      dtype: 'float32',
      size: all * length,
      format,
      refCount: 1,
      buffer: null,
      host: null,
      parts,
    });
    return { dataId, shape: [...shape], dtype: 'float32' };
  }

  /** The buffers of a matrix that one binding can't hold; null for any other tensor. */
  parts({ dataId }: TensorInfo): readonly BufferPart[] | null {
    return this.#data.get(dataId).parts ?? null;
  }

  /** A further tensor on the same data. */
  share({ dataId, dtype }: TensorInfo, shape: readonly number[]): TensorInfo {
    this.incRef(dataId);
    this.#made?.push(dataId);
    return { dataId, shape: [...shape], dtype };
  }

  /** A tensor of integers from here. */
  integers(values: Int32Array, shape: readonly number[] = [values.length]): TensorInfo {
    return { dataId: this.write(values, [...shape], 'int32'), shape: [...shape], dtype: 'int32' };
  }

  /** The buffer of a tensor of 32-bit numbers, filled. */
  buffer(tensor: TensorInfo): GpuBuffer {
    const format = this.format(tensor);
    if (!isPlain(format))
      throw new Error(`Expected 32-bit numbers, got ${format}: only products and rows read packed weights`);
    return this.anyBuffer(tensor);
  }

  /** The buffer of a tensor in whatever format, filled. */
  anyBuffer({ dataId }: TensorInfo): GpuBuffer {
    const stored = this.#data.get(dataId);
    if (stored.parts !== undefined) throw tooLarge(bytesOf(stored.size, stored.format), this.gpu.largestBuffer);
    if (stored.buffer === null && stored.host !== null) this.#upload(stored, stored.host.slice());
    stored.buffer ??= this.#zeros(stored);
    return stored.buffer;
  }

  /** The buffer of a tensor that a kernel changes in place. */
  bufferToChange(tensor: TensorInfo): GpuBuffer {
    const buffer = this.buffer(tensor);
    this.#data.get(tensor.dataId).host = null;
    return buffer;
  }

  format({ dataId }: TensorInfo): Format {
    return this.#data.get(dataId).format;
  }

  /** The values, where they are known here without asking the GPU. */
  known({ dataId }: TensorInfo): TypedArray | null {
    return this.#data.get(dataId).host;
  }

  /** The values, from here or from the GPU. */
  values({ dataId }: TensorInfo): TypedArray {
    return this.readSync(dataId);
  }

  /** Gives a kernel's intermediate result back. */
  release(...tensors: readonly TensorInfo[]): void {
    for (const { dataId } of tensors) this.disposeData(dataId);
  }

  #upload(stored: Stored, words: TypedArray): void {
    stored.buffer = this.gpu.takeForUpload(bytesOf(stored.size, stored.format));
    if (words.byteLength > 0) this.gpu.upload(stored.buffer, words.buffer as ArrayBuffer);
  }

  #zeros({ size, format }: Stored): GpuBuffer {
    const buffer = this.gpu.take(bytesOf(size, format));
    this.gpu.clear(buffer, 0, Math.ceil(bytesOf(size, format) / 4));
    return buffer;
  }

  #download({ buffer, parts, size, format }: Stored, count: number): TypedArray {
    if (parts !== undefined) {
      const lines = parts.reduce((sum, part) => sum + part.lines, 0);
      const out = new Float32Array(size);
      let at = 0;
      for (const part of parts) {
        out.set(new Float32Array(this.gpu.read(part.buffer, 4 * part.lines * (size / lines))), at);
        at += part.lines * (size / lines);
      }
      return out;
    }
    if (buffer === null) return format === 'i32' ? new Int32Array(count) : new Float32Array(count);
    if (size === 0) return new Float32Array(0);
    const bytes = this.gpu.read(buffer, 4 * count);
    return format === 'i32' ? new Int32Array(bytes) : new Float32Array(bytes);
  }
}

function formatOf(dtype: DataType): Format {
  if (dtype === 'float32') return 'f32';
  if (dtype === 'int32' || dtype === 'bool') return 'i32';
  throw new Error(`Expected float32, int32 or bool, got ${dtype}: the webgpu backend has no other type`);
}

/** At least a vector of four, which is what many kernels read at a time. */
export function bytesOf(size: number, format: Format): number {
  if (isQuantised(format)) return quantisedBytes(size, format);
  return Math.max(16, (isPlain(format) ? 4 : 2) * size);
}

/** A copy as 4-byte words. The caller may change its array afterwards, and an upload hands its memory over. */
function toWords(values: TypedArray, format: Format): TypedArray {
  return format === 'i32' ? Int32Array.from(values) : Float32Array.from(values);
}
