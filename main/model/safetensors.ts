/**
 * The safetensors format: eight bytes of header length (little endian), a JSON header {name: {dtype, shape,
 * data_offsets}}, then the raw tensors. Reads float32, float16 and bfloat16 as float32, one tensor at a time. Non-finite
 * numbers are rejected: no trained model has them, and a flipped exponent bit creates them.
 */
import { closeSync, fstatSync, readSync } from 'node:fs';
import { inputError } from '../errors.ts';
import { isJsonObject, parseJson } from '../io/json.ts';
import { openRegular } from '../io/read-file.ts';
import { toBfloat16 } from '../tensor/bfloat16.ts';
import { refusePointer } from './git-lfs.ts';
import { shown } from './shown.ts';

export type FloatType = 'F32' | 'F16' | 'BF16';

export interface TensorEntry {
  readonly dtype: string;
  readonly shape: readonly number[];
  /** Bytes from the start of the data section: [begin, end). */
  readonly data_offsets: readonly [number, number];
}

export interface SafetensorsFile {
  readonly entries: ReadonlyMap<string, TensorEntry>;
  readonly metadata: Readonly<Record<string, string>>;
  /** Reads one tensor and converts it to float32. */
  read(name: string): Float32Array<ArrayBuffer>;
  /** How a tensor's numbers are stored. */
  typeOf(name: string): FloatType;
  /** Reads `count` numbers of a tensor from number `first` on, as they are stored. */
  readRaw(name: string, first: number, count: number): Buffer<ArrayBuffer>;
  /** All bytes of a tensor of any type. */
  readBytes(name: string): Buffer<ArrayBuffer>;
  /** Reads a tensor in pieces, one per turn; throws if a number is not finite. Other types pass. */
  checkFinite(name: string): Generator<undefined, void>;
  close(): void;
}

/** A tensor to write. */
export interface NamedArray {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** A tensor to write that is read when its turn comes, in pieces, so that a file is never in memory as a whole. */
export interface NamedPieces {
  readonly name: string;
  readonly shape: readonly number[];
  readonly pieces: () => Iterable<Float32Array>;
}

const BYTES: Readonly<Record<FloatType, number>> = { F32: 4, F16: 2, BF16: 2 };
/** Of the codes of quantised weights. */
const CODE_BYTES: Readonly<Record<string, number>> = { U8: 1, I8: 1, F8_E4M3: 1, I32: 4, U32: 4 };
/** Far beyond any model's file: the format allows more, which takes seconds to read and tells nothing. */
const MAX_HEADER_BYTES = 2 ** 22;
const MAX_TENSORS = 20_000;
const MAX_DIMENSIONS = 8;
/** Numbers converted at a time. */
const PIECE = 2 ** 22;

export interface OpenOptions {
  /** False if the file is known to be intact: a diverged run may have such moments. */
  readonly finite?: boolean;
}

/** Opens a safetensors file and checks its header against the file's size. */
export function openSafetensors(file: string, { finite = true }: OpenOptions = {}): SafetensorsFile {
  const descriptor = open(file);
  try {
    const bytes = fstatSync(descriptor).size;
    const { entries, metadata, dataStart } = readHeader(descriptor, bytes, file);
    const entryOf = (name: string): TensorEntry => {
      const entry = entries.get(name);
      if (entry !== undefined) return entry;
      throw inputError('TENSOR_MISSING', `${file}: expected a tensor "${name}", the file has none of that name`);
    };
    const typeOf = (name: string): FloatType => floatType(entryOf(name).dtype, name, file);
    const readRaw = (name: string, first: number, count: number): Buffer<ArrayBuffer> => {
      const type = typeOf(name);
      const start = dataStart + entryOf(name).data_offsets[0] + first * BYTES[type];
      const bytes = readExactly(descriptor, start, count * BYTES[type], file);
      if (finite && !allFinite(bytes, type)) throw notFinite(name, file);
      return bytes;
    };
    const readBytes = (name: string): Buffer<ArrayBuffer> => {
      const [begin, end] = entryOf(name).data_offsets;
      return readExactly(descriptor, dataStart + begin, end - begin, file);
    };
    // In pieces, so that a tensor is never in memory twice.
    const read = (name: string): Float32Array<ArrayBuffer> => {
      const type = typeOf(name);
      const numbers = new Float32Array(entryOf(name).shape.reduce((a, b) => a * b, 1));
      for (let first = 0; first < numbers.length; first += PIECE) {
        numbers.set(toFloat32(readRaw(name, first, Math.min(PIECE, numbers.length - first)), type), first);
      }
      return numbers;
    };
    const checkFinite = function* (name: string): Generator<undefined, void> {
      const { dtype, shape } = entryOf(name);
      if (!Object.hasOwn(BYTES, dtype)) return;
      const numbers = shape.reduce((a, b) => a * b, 1);
      for (let first = 0; first < numbers; first += PIECE) {
        readRaw(name, first, Math.min(PIECE, numbers - first));
        yield;
      }
    };
    return { entries, metadata, read, typeOf, readRaw, readBytes, checkFinite, close: () => closeSync(descriptor) };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function open(file: string): number {
  try {
    return openRegular(file);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EISDIR' || code === 'ENOTREG') throw inputError('NOT_SAFETENSORS', `${file}: ${message}`);
    throw Object.assign(inputError('MODEL_FILE_MISSING', `${file}: can't be opened (${message})`), {
      cause,
    });
  }
}

function readHeader(descriptor: number, fileBytes: number, file: string) {
  if (fileBytes < 8) throw truncated(file, `expected at least 8 bytes, got ${fileBytes}`);
  const prefix = readExactly(descriptor, 0, 8, file);
  // Only then are more bytes read: a pointer's first ones would be a header of 10¹⁸ bytes.
  if (prefix.toString('latin1') === 'version ') {
    const start = readExactly(descriptor, 0, Math.min(fileBytes, 64), file);
    refusePointer(start.toString('latin1'), file);
  }
  const headerBytes = Number(prefix.readBigUInt64LE(0));
  if (headerBytes > MAX_HEADER_BYTES && headerBytes < fileBytes)
    throw inputError(
      'NOT_SAFETENSORS',
      `${file}: expected a header of at most ${MAX_HEADER_BYTES} bytes, got ${headerBytes}`,
    );
  if (headerBytes > MAX_HEADER_BYTES || headerBytes < 2) {
    throw inputError('NOT_SAFETENSORS', `${file}: not a safetensors file (a header of ${headerBytes} bytes)`);
  }
  if (8 + headerBytes > fileBytes)
    throw truncated(file, `its header needs ${8 + headerBytes} bytes, it has ${fileBytes}`);
  const json = readExactly(descriptor, 8, headerBytes, file);
  // Before the work of parsing: each tensor is an object.
  if (count(json, 0x7b) > MAX_TENSORS + 2)
    throw inputError('NOT_SAFETENSORS', `${file}: expected at most ${MAX_TENSORS} tensors in a file`);
  const header = parseHeader(json.toString('utf8'), file);
  const dataStart = 8 + headerBytes;
  const entries = new Map<string, TensorEntry>();
  for (const [name, value] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    if (!isEntry(value))
      throw inputError('NOT_SAFETENSORS', `${file}: the header's entry for ${shown(name)} is malformed`);
    checkEntry(name, value, fileBytes - dataStart, file);
    entries.set(name, value);
  }
  checkLayout(entries, fileBytes - dataStart, file);
  return { entries, metadata: (header.__metadata__ ?? {}) as Readonly<Record<string, string>>, dataStart };
}

function count(bytes: Uint8Array, wanted: number): number {
  let found = 0;
  for (const byte of bytes) if (byte === wanted) found++;
  return found;
}

function isEntry(value: unknown): value is TensorEntry {
  const { dtype, shape, data_offsets: offsets } = (value ?? {}) as Partial<Record<keyof TensorEntry, unknown>>;
  return typeof dtype === 'string' && areSizes(shape, 0, MAX_DIMENSIONS) && areSizes(offsets, 2, 2);
}

function areSizes(value: unknown, least: number, most: number): boolean {
  if (!Array.isArray(value) || value.length < least || value.length > most) return false;
  return value.every((size) => Number.isSafeInteger(size) && (size as number) >= 0);
}

function parseHeader(text: string, file: string): Readonly<Record<string, unknown>> {
  const refused = (detail: string, cause: unknown) =>
    Object.assign(inputError('NOT_SAFETENSORS', `${file}: not a safetensors file (${detail})`), { cause });
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (cause) {
    throw refused('its header is not JSON', cause);
  }
  if (!isJsonObject(value)) throw refused('its header is JSON, but not an object of tensors', undefined);
  const metadata = value.__metadata__ ?? {};
  if (isJsonObject(metadata) && Object.values(metadata).every((text) => typeof text === 'string')) return value;
  throw refused('its header\'s "__metadata__" is not an object of strings', undefined);
}

function checkEntry(name: string, entry: TensorEntry, dataBytes: number, file: string): void {
  const [begin, end] = entry.data_offsets;
  if (end > dataBytes)
    throw truncated(file, `tensor "${name}" ends at byte ${end} of the data, the file holds ${dataBytes}`);
  const widths = { ...BYTES, ...CODE_BYTES };
  const width = Object.hasOwn(widths, entry.dtype) ? widths[entry.dtype as FloatType] : undefined;
  const expected = width === undefined ? end - begin : width * entry.shape.reduce((a, b) => a * b, 1);
  if (end - begin !== expected) {
    throw inputError(
      'NOT_SAFETENSORS',
      `${file}: tensor "${name}" of shape [${entry.shape.join(', ')}] needs ${expected} bytes, got ${end - begin}`,
    );
  }
}

/** The tensors must fill the data contiguously, as the format requires: no gaps, no overlaps, nothing after them. */
function checkLayout(entries: ReadonlyMap<string, TensorEntry>, dataBytes: number, file: string): void {
  const inOrder = [...entries].sort(([, { data_offsets: a }], [, { data_offsets: b }]) => a[0] - b[0] || a[1] - b[1]);
  let at = 0;
  for (const [name, { data_offsets }] of inOrder) {
    if (data_offsets[0] !== at)
      throw damagedLayout(file, `expected tensor "${name}" to begin at byte ${at} of the data, got ${data_offsets[0]}`);
    at = data_offsets[1];
  }
  if (at !== dataBytes) throw damagedLayout(file, `expected ${at} bytes of data, got ${dataBytes}`);
}

function damagedLayout(file: string, detail: string) {
  return inputError('NOT_SAFETENSORS', `${file}: ${detail}`, 'Copy or download it again.');
}

export function notFinite(name: string, file: string) {
  return inputError(
    'NOT_FINITE',
    `${file}: expected finite numbers in tensor "${name}", got NaN or infinity`,
    'The file is damaged, or the run that wrote it had diverged: use another copy, or an earlier checkpoint.',
  );
}

/** Exponent mask of a number, or of two numbers in one word, and the lowest bit of each exponent. */
const EXPONENTS: Readonly<Record<FloatType, readonly [mask: number, one: number]>> = {
  F32: [0x7f800000, 0x00800000],
  F16: [0x7c007c00, 0x04000400],
  BF16: [0x7f807f80, 0x00800080],
};

/** Whether all numbers are finite: adding one to an all-ones exponent carries into the sign bit. */
export function allFinite(bytes: Buffer<ArrayBuffer>, type: FloatType): boolean {
  const [mask, one] = EXPONENTS[type];
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2);
  let carried = 0;
  for (let i = 0; i < words.length; i++) carried |= ((words[i] as number) & mask) + one;
  if (bytes.length % 4 !== 0) carried |= (bytes.readUInt16LE(bytes.length - 2) & mask) + one;
  return (carried & (type === 'F32' ? 0x80000000 : 0x80008000)) === 0;
}

function truncated(file: string, detail: string) {
  return inputError('FILE_TRUNCATED', `${file}: the file is truncated: ${detail}`, 'Copy or download it again.');
}

/** The type of a tensor of `file` or folder, or an error if its numbers can't be read. */
export function floatType(dtype: string, name: string, file: string): FloatType {
  if (dtype === 'F32' || dtype === 'F16' || dtype === 'BF16') return dtype;
  throw inputError(
    'UNSUPPORTED_DTYPE',
    `${file}: expected tensor "${name}" as F32, F16 or BF16, got ${dtype.slice(0, 40)}`,
    dtype === 'F64'
      ? 'Save the model as float32, in Python with model.float().save_pretrained(folder).'
      : 'Quantised weights load where config.json says by which method; otherwise use the original ones.',
  );
}

function readExactly(descriptor: number, position: number, length: number, file: string): Buffer<ArrayBuffer> {
  const buffer = Buffer.alloc(length);
  let done = 0;
  while (done < length) {
    // One read call moves at most 2 GiB.
    const got = readSync(descriptor, buffer, done, Math.min(length - done, 1 << 30), position + done);
    if (got === 0) throw truncated(file, `expected ${length} bytes at ${position}, got ${done}`);
    done += got;
  }
  return buffer;
}

/** Raw little-endian bytes of the given type as float32. */
export function toFloat32(bytes: Buffer<ArrayBuffer>, type: FloatType): Float32Array<ArrayBuffer> {
  if (type === 'F32')
    return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  const halves = new Uint16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  const words = new Uint32Array(halves.length);
  if (type === 'BF16') for (let i = 0; i < halves.length; i++) words[i] = (halves[i] as number) << 16;
  else for (let i = 0; i < halves.length; i++) words[i] = halfToFloatBits(halves[i] as number);
  return new Float32Array(words.buffer);
}

/** The bits of the float32 that equals a float16. */
function halfToFloatBits(half: number): number {
  const sign = (half & 0x8000) << 16;
  const exponent = (half >>> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 31) return sign | 0x7f800000 | (fraction << 13);
  if (exponent !== 0) return sign | ((exponent + 112) << 23) | (fraction << 13);
  if (fraction === 0) return sign;
  // A subnormal half is a normal float: shift until its leading one is the implicit bit.
  const shift = Math.clz32(fraction) - 21;
  return sign | ((113 - shift) << 23) | (((fraction << shift) & 0x3ff) << 13);
}

const oneFloat = new Float32Array(1);
const oneFloatBits = new Uint32Array(oneFloat.buffer);

/** The float16 nearest to a number (ties to even), as its bits; beyond 65504 infinity. */
export function floatToHalf(value: number): number {
  oneFloat[0] = value;
  return halfBits(oneFloatBits[0] as number, value);
}

function halfBits(bits: number, value: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x47800000) return sign | 0x7c00;
  if (magnitude < 0x38800000) return sign | roundHalfEven(Math.abs(value) * 2 ** 24);
  const rounded = magnitude + 0xfff + ((magnitude >>> 13) & 1);
  return sign | ((rounded - 0x38000000) >>> 13);
}

/** The nearest whole number, ties to even. */
function roundHalfEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}

/** The bytes of a safetensors file; `type` is how the numbers are stored. Header keys in the given order. */
export function encodeSafetensors(
  tensors: readonly NamedArray[],
  metadata: Readonly<Record<string, string>> = { format: 'pt' },
  type: 'F32' | 'F16' = 'F32',
): Buffer {
  const whole = tensors.map(({ name, shape, data }) => ({ name, shape, pieces: () => [data] }));
  return Buffer.concat([...safetensorsPieces(whole, metadata, type)]);
}

/** The same bytes in pieces. */
export function* safetensorsPieces(
  tensors: readonly NamedPieces[],
  metadata: Readonly<Record<string, string>> = { format: 'pt' },
  type: FloatType = 'F32',
): Generator<Buffer> {
  const header: Record<string, unknown> = { __metadata__: metadata };
  let offset = 0;
  for (const { name, shape } of tensors) {
    const bytes = shape.reduce((a, b) => a * b, 1) * BYTES[type];
    header[name] = { dtype: type, shape, data_offsets: [offset, offset + bytes] };
    offset += bytes;
  }
  const json = Buffer.from(JSON.stringify(header));
  // The data starts on a multiple of eight bytes; the format pads its header with spaces.
  const padded = Buffer.alloc(Math.ceil(json.length / 8) * 8, ' ');
  json.copy(padded);
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(padded.length));
  yield Buffer.concat([prefix, padded]);
  for (const { name, pieces } of tensors) for (const piece of pieces()) yield encodeFloats(piece, type, name);
}

/** A tensor's numbers as they stand in a file, little endian. Errors name the tensor. */
export function encodeFloats(data: Float32Array, type: FloatType, name: string): Buffer {
  if (type === 'F32') return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (type === 'BF16') return Buffer.from(toBfloat16(data).buffer);
  const words = new Uint32Array(data.buffer, data.byteOffset, data.length);
  const halves = new Uint16Array(data.length);
  for (let i = 0; i < data.length; i++) {
    const half = halfBits(words[i] as number, data[i] as number);
    if ((half & 0x7c00) === 0x7c00) throw beyondHalf(data[i] as number, name);
    halves[i] = half;
  }
  return Buffer.from(halves.buffer);
}

/** A model with such a number would load elsewhere and compute nonsense. */
export function beyondHalf(value: number, name: string, limit = 65504) {
  return inputError(
    'BEYOND_FLOAT16',
    `Expected the numbers of tensor "${name}" to be within ±${limit}, the range of the file's type, got ${value}`,
    'Export it as bfloat16 or float32, and a GGUF file as q8_0 or not at all.',
  );
}
