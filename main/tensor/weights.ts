/** How a model's weights become tensors. A backend may have its own way that needs less memory. */
import * as tf from '@tensorflow/tfjs-core';
import { toBfloat16 } from './bfloat16.ts';
import {
  blocksOf,
  dequantise,
  isQuantised,
  type Packed,
  QUANTISED_BLOCK,
  type Quantised,
  quantise,
} from './quantised.ts';

/**
 * How matrices are stored: bfloat16 where the backend supports it and they aren't trained; "stored" keeps those of a
 * 16-bit file as they are there, which changes no number; int8 and nf4 (quantised.ts) give the same numbers everywhere,
 * but only a backend with kernels for them keeps them small.
 */
export type WeightPrecision = 'float32' | 'bfloat16' | 'stored' | Quantised;

/** The source of a tensor's values. */
export interface WeightSource {
  readonly type: 'F32' | 'F16' | 'BF16';
  /** All of them as float32. */
  read(): Float32Array<ArrayBuffer>;
  /** `count` of them from number `first` on as float32. */
  readPart(first: number, count: number): Float32Array<ArrayBuffer>;
  /** `count` of them from number `first` on, as they are stored. */
  readRaw(first: number, count: number): Buffer<ArrayBuffer>;
  /** The same numbers in whole blocks of 8 or 4 bits, where the file has them so. */
  readonly packed?: { readonly kind: Quantised; read(first: number, count: number): Packed } | undefined;
}

/** A backend's way to make a weight; null for the default, also where it can't keep this precision. */
export type MakeWeight = (
  source: WeightSource,
  shape: readonly number[],
  precision: WeightPrecision,
) => tf.Tensor | null;

const makers = new Map<string, MakeWeight>();

/** Registers a backend's own way. */
export function registerWeightMaker(backendName: string, make: MakeWeight): void {
  makers.set(backendName, make);
}

/** A weight on the current backend. */
export function makeWeight(source: WeightSource, shape: readonly number[], precision: WeightPrecision): tf.Tensor {
  const make = makers.get(tf.getBackend());
  const own = make?.(source, shape, precision) ?? null;
  if (own !== null) return own;
  if (!isQuantised(precision)) return tf.tensor(source.read(), [...shape], 'float32');
  const size = shape.reduce((product, length) => product * length, 1);
  return makeWeight(throughQuantised(source, size, precision), shape, 'float32');
}

/** `count` numbers from number `first` on as bfloat16: those of the file, or the nearest. */
export function bfloat16Bits(source: WeightSource, first: number, count: number): Uint16Array<ArrayBuffer> {
  if (source.type === 'BF16') {
    const { buffer, byteOffset, byteLength } = source.readRaw(first, count);
    return new Uint16Array(buffer.slice(byteOffset, byteOffset + byteLength));
  }
  return toBfloat16(source.readPart(first, count));
}

/** `count` numbers from the beginning of a block on, packed: as the file has them, or from their values. */
export function packedPart(source: WeightSource, first: number, count: number, kind: Quantised): Packed {
  if (source.packed?.kind === kind) return source.packed.read(first, count);
  return quantise(source.readPart(first, count), kind);
}

/** A source whose numbers have been packed and unpacked: what a backend without such kernels computes with. */
export function throughQuantised(source: WeightSource, size: number, kind: Quantised): WeightSource {
  const readPart = (first: number, count: number): Float32Array<ArrayBuffer> => {
    const from = Math.floor(first / QUANTISED_BLOCK) * QUANTISED_BLOCK;
    const end = Math.min(size, blocksOf(first + count) * QUANTISED_BLOCK);
    const values = dequantise(packedPart(source, from, end - from, kind), kind, end - from);
    return values.slice(first - from, first - from + count);
  };
  return {
    type: 'F32',
    read: () => readPart(0, size),
    readPart,
    readRaw: (first, count) => Buffer.from(readPart(first, count).buffer),
  };
}
