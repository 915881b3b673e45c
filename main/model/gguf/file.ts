/**
 * The GGUF format, version 3 (github.com/ggml-org/ggml/blob/master/docs/gguf.md), which llama.cpp, Ollama and LM Studio
 * read: "GGUF", version, counts; metadata as typed key-value pairs; each tensor's name, shape (fastest dimension first),
 * type and offset; then the tensors, each at a multiple of 32 bytes. Little endian.
 */

import { append } from '../../lists.ts';
import { beyondHalf, encodeFloats, floatToHalf } from '../safetensors.ts';

export type GgufValue =
  | { readonly type: 'uint32' | 'float32'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'strings'; readonly value: readonly string[] }
  | { readonly type: 'bools'; readonly value: readonly boolean[] }
  | { readonly type: 'int32s' | 'float32s'; readonly value: readonly number[] };

export type GgufType = 'F32' | 'F16' | 'Q8_0';

export interface GgufTensor {
  readonly name: string;
  /** As in safetensors: rows first. */
  readonly shape: readonly number[];
  readonly type: GgufType;
  readonly pieces: () => Iterable<Float32Array>;
}

/** The format's numbers of its types. */
const VALUE_TYPES = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 } as const;
const TENSOR_TYPES: Readonly<Record<GgufType, number>> = { F32: 0, F16: 1, Q8_0: 8 };
const VERSION = 3;
const ALIGNMENT = 32;
/** Q8_0: 32 numbers share a float16 scale and take a byte each. */
export const Q8_BLOCK = 32;

/** A file's bytes in pieces. */
export function* ggufPieces(
  metadata: Readonly<Record<string, GgufValue>>,
  tensors: readonly GgufTensor[],
): Generator<Buffer> {
  const entries = Object.entries(metadata);
  const head = [Buffer.from('GGUF'), uint32(VERSION), uint64(tensors.length), uint64(entries.length)];
  for (const [key, value] of entries) append(head, [text(key), ...encodeValue(value)]);
  let offset = 0;
  for (const { name, shape, type } of tensors) {
    head.push(text(name), uint32(shape.length), ...shape.toReversed().map(uint64));
    head.push(uint32(TENSOR_TYPES[type]), uint64(offset));
    offset += aligned(tensorBytes(shape, type));
  }
  const bytes = Buffer.concat(head);
  yield padded(bytes);
  for (const { name, shape, type, pieces } of tensors) {
    for (const piece of pieces()) yield type === 'Q8_0' ? encodeQ8(piece, name) : encodeFloats(piece, type, name);
    const length = tensorBytes(shape, type);
    yield Buffer.alloc(aligned(length) - length);
  }
}

function encodeValue(entry: GgufValue): Buffer[] {
  switch (entry.type) {
    case 'uint32':
      return [uint32(VALUE_TYPES.uint32), uint32(entry.value)];
    case 'float32':
      return [uint32(VALUE_TYPES.float32), float32(entry.value)];
    case 'bool':
      return [uint32(VALUE_TYPES.bool), Buffer.from([entry.value ? 1 : 0])];
    case 'string':
      return [uint32(VALUE_TYPES.string), text(entry.value)];
    case 'strings':
      return [...arrayHead(VALUE_TYPES.string, entry.value), ...entry.value.map(text)];
    case 'bools':
      return [...arrayHead(VALUE_TYPES.bool, entry.value), Buffer.from(entry.value.map(Number))];
    case 'int32s':
      return [...arrayHead(VALUE_TYPES.int32, entry.value), Buffer.from(Int32Array.from(entry.value).buffer)];
    case 'float32s':
      return [...arrayHead(VALUE_TYPES.float32, entry.value), Buffer.from(Float32Array.from(entry.value).buffer)];
  }
}

function arrayHead(type: number, values: readonly unknown[]): Buffer[] {
  return [uint32(VALUE_TYPES.array), uint32(type), uint64(values.length)];
}

/** Blocks of 32: the scale is the largest magnitude / 127, each number the nearest multiple of it. `name`: for errors. */
export function encodeQ8(data: Float32Array, name: string): Buffer {
  const blocks = data.length / Q8_BLOCK;
  const out = Buffer.alloc(blocks * (2 + Q8_BLOCK));
  for (let block = 0; block < blocks; block++) {
    const values = data.subarray(block * Q8_BLOCK, (block + 1) * Q8_BLOCK);
    const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const scale = Math.fround(largest / 127);
    const at = block * (2 + Q8_BLOCK);
    const half = floatToHalf(scale);
    if ((half & 0x7c00) === 0x7c00) throw beyondHalf(largest, name, 127 * 65504);
    out.writeUInt16LE(half, at);
    for (let i = 0; i < Q8_BLOCK; i++)
      out.writeInt8(scale === 0 ? 0 : nearest((values[i] as number) / scale), at + 2 + i);
  }
  return out;
}

/** Halves away from zero, as C's roundf. */
function nearest(value: number): number {
  return Math.sign(value) * Math.floor(Math.abs(value) + 0.5);
}

/** Bytes of a tensor without its padding. */
function tensorBytes(shape: readonly number[], type: GgufType): number {
  const numbers = shape.reduce((a, b) => a * b, 1);
  if (type === 'Q8_0') return (numbers / Q8_BLOCK) * (2 + Q8_BLOCK);
  return numbers * (type === 'F32' ? 4 : 2);
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(aligned(bytes.length) - bytes.length)]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function float32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([uint64(bytes.length), bytes]);
}
