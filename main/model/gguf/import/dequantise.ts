/**
 * The numbers in ggml's blocks (github.com/ggml-org/ggml/blob/master/src/ggml-quants.c), as float32. Every product and
 * sum is rounded to float32 in the order of the gguf package for Python, so that the bits are the same.
 */
import { toFloat32 } from '../../safetensors.ts';

/** Writes the numbers of a block that begins at `at` into `out` from `to` on. */
type Decode = (bytes: Uint8Array, at: number, out: Float32Array, to: number) => void;

export interface TensorType {
  readonly name: string;
  /** Numbers that share a block. */
  readonly block: number;
  /** Bytes of a block. */
  readonly bytes: number;
  /** Bits that each number was rounded to; null: it wasn't. */
  readonly bits: number | null;
  readonly decode: Decode | null;
}

/** Every float16, by its bits. */
const HALVES = toFloat32(Buffer.from(Uint16Array.from({ length: 2 ** 16 }, (_, bits) => bits).buffer), 'F16');

const f32 = Math.fround;
const byte = (bytes: Uint8Array, at: number): number => bytes[at] as number;
const int8 = (bytes: Uint8Array, at: number): number => (byte(bytes, at) << 24) >> 24;
const half = (bytes: Uint8Array, at: number): number => HALVES[byte(bytes, at) | (byte(bytes, at + 1) << 8)] as number;

/** What the numbers of a block can be, by their bits; used again for each block. */
const LEVELS = new Float32Array(32);

/** 32 numbers of four bits as one of the levels each: the low halves of 16 bytes, then the high ones. */
function fromLevels(bytes: Uint8Array, at: number, out: Float32Array, to: number): void {
  for (let i = 0; i < 16; i++) {
    const pair = byte(bytes, at + i);
    out[to + i] = LEVELS[pair & 15] as number;
    out[to + i + 16] = LEVELS[pair >> 4] as number;
  }
}

/** The same of five bits: the fifth ones are in four bytes of their own before them. */
function fromMoreLevels(bytes: Uint8Array, at: number, out: Float32Array, to: number): void {
  const high = byte(bytes, at) | (byte(bytes, at + 1) << 8);
  const higher = byte(bytes, at + 2) | (byte(bytes, at + 3) << 8);
  for (let i = 0; i < 16; i++) {
    const pair = byte(bytes, at + 4 + i);
    out[to + i] = LEVELS[(pair & 15) | (((high >> i) & 1) << 4)] as number;
    out[to + i + 16] = LEVELS[(pair >> 4) | (((higher >> i) & 1) << 4)] as number;
  }
}

const q4_0: Decode = (bytes, at, out, to) => {
  const d = half(bytes, at);
  for (let q = 0; q < 16; q++) LEVELS[q] = d * (q - 8);
  fromLevels(bytes, at + 2, out, to);
};

const q4_1: Decode = (bytes, at, out, to) => {
  const [d, m] = [half(bytes, at), half(bytes, at + 2)];
  for (let q = 0; q < 16; q++) LEVELS[q] = f32(d * q) + m;
  fromLevels(bytes, at + 4, out, to);
};

const q5_0: Decode = (bytes, at, out, to) => {
  const d = half(bytes, at);
  for (let q = 0; q < 32; q++) LEVELS[q] = d * (q - 16);
  fromMoreLevels(bytes, at + 2, out, to);
};

const q5_1: Decode = (bytes, at, out, to) => {
  const [d, m] = [half(bytes, at), half(bytes, at + 2)];
  for (let q = 0; q < 32; q++) LEVELS[q] = f32(d * q) + m;
  fromMoreLevels(bytes, at + 4, out, to);
};

const q8_0: Decode = (bytes, at, out, to) => {
  const d = half(bytes, at);
  for (let i = 0; i < 32; i++) out[to + i] = int8(bytes, at + 2 + i) * d;
};

/** The steps of IQ4_NL, which aren't evenly spaced. */
const STEPS = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113] as const;

const iq4_nl: Decode = (bytes, at, out, to) => {
  const d = half(bytes, at);
  for (let q = 0; q < 16; q++) LEVELS[q] = d * (STEPS[q] as number);
  fromLevels(bytes, at + 2, out, to);
};

/** Number `i` of 256 that have two bits each: four to a byte, 32 bytes apart. */
const twoBits = (bytes: Uint8Array, at: number, i: number): number =>
  (byte(bytes, at + (i >> 7) * 32 + (i & 31)) >> (2 * ((i >> 5) & 3))) & 3;

/** Number `i` of 256 that have four bits each: two to a byte, 32 bytes apart. */
const fourBits = (bytes: Uint8Array, at: number, i: number): number =>
  (byte(bytes, at + (i >> 6) * 32 + (i & 31)) >> (4 * ((i >> 5) & 1))) & 15;

/** Bit `i` of 256: eight to a byte, 32 bytes apart. */
const oneBit = (bytes: Uint8Array, at: number, i: number): number => (byte(bytes, at + (i & 31)) >> (i >> 5)) & 1;

const q2_k: Decode = (bytes, at, out, to) => {
  const [d, dmin] = [half(bytes, at + 80), half(bytes, at + 82)];
  for (let group = 0; group < 16; group++) {
    const scale = byte(bytes, at + group);
    const [step, offset] = [f32(d * (scale & 15)), f32(dmin * (scale >> 4))];
    for (let i = 16 * group; i < 16 * group + 16; i++) out[to + i] = f32(step * twoBits(bytes, at + 16, i)) - offset;
  }
};

const q3_k: Decode = (bytes, at, out, to) => {
  const d = half(bytes, at + 108);
  for (let group = 0; group < 16; group++) {
    const low = (byte(bytes, at + 96 + (group & 7)) >> (4 * (group >> 3))) & 15;
    const high = (byte(bytes, at + 104 + (group & 3)) >> (2 * (group >> 2))) & 3;
    const step = f32(d * ((low | (high << 4)) - 32));
    for (let i = 16 * group; i < 16 * group + 16; i++)
      out[to + i] = step * (twoBits(bytes, at + 32, i) - (oneBit(bytes, at, i) === 0 ? 4 : 0));
  }
};

/** Scale and least of the eight groups of Q4_K and Q5_K: six bits each, the last four groups in parts. */
function scaleAndLeast(bytes: Uint8Array, at: number, group: number): readonly [scale: number, least: number] {
  if (group < 4) return [byte(bytes, at + group) & 63, byte(bytes, at + 4 + group) & 63];
  const low = byte(bytes, at + 4 + group);
  return [(low & 15) | ((byte(bytes, at + group - 4) >> 2) & 48), (low >> 4) | ((byte(bytes, at + group) >> 2) & 48)];
}

const kWithLeast =
  (quants: (bytes: Uint8Array, at: number, i: number) => number): Decode =>
  (bytes, at, out, to) => {
    const [d, dmin] = [half(bytes, at), half(bytes, at + 2)];
    for (let group = 0; group < 8; group++) {
      const [scale, least] = scaleAndLeast(bytes, at + 4, group);
      const [step, offset] = [f32(d * scale), f32(dmin * least)];
      for (let i = 32 * group; i < 32 * group + 32; i++) out[to + i] = f32(step * quants(bytes, at, i)) - offset;
    }
  };

const q4_k = kWithLeast((bytes, at, i) => fourBits(bytes, at + 16, i));
const q5_k = kWithLeast((bytes, at, i) => fourBits(bytes, at + 48, i) | (oneBit(bytes, at + 16, i) << 4));

const q6_k: Decode = (bytes, at, out, to) => {
  const d = half(bytes, at + 208);
  for (let i = 0; i < 256; i++) {
    const low = (byte(bytes, at + (i >> 7) * 64 + (i & 63)) >> (4 * ((i >> 6) & 1))) & 15;
    const q = (low | (twoBits(bytes, at + 128, i) << 4)) - 32;
    out[to + i] = f32(d * int8(bytes, at + 192 + (i >> 4))) * q;
  }
};

const plain = (name: 'F32' | 'F16' | 'BF16'): TensorType => ({
  name,
  block: 1,
  bytes: name === 'F32' ? 4 : 2,
  bits: null,
  decode: null,
});
const of32 = (name: string, bits: number, bytes: number, decode: Decode): TensorType => ({
  name,
  block: 32,
  bits,
  bytes,
  decode,
});
const of256 = (name: string, bits: number, bytes: number, decode: Decode): TensorType => ({
  name,
  block: 256,
  bits,
  bytes,
  decode,
});

/** The types that can be read, by the format's numbers. */
const TYPES: Readonly<Record<number, TensorType>> = {
  0: plain('F32'),
  1: plain('F16'),
  30: plain('BF16'),
  2: of32('Q4_0', 4, 18, q4_0),
  3: of32('Q4_1', 4, 20, q4_1),
  6: of32('Q5_0', 5, 22, q5_0),
  7: of32('Q5_1', 5, 24, q5_1),
  8: of32('Q8_0', 8, 34, q8_0),
  20: of32('IQ4_NL', 4, 18, iq4_nl),
  10: of256('Q2_K', 2, 84, q2_k),
  11: of256('Q3_K', 3, 110, q3_k),
  12: of256('Q4_K', 4, 144, q4_k),
  13: of256('Q5_K', 5, 176, q5_k),
  14: of256('Q6_K', 6, 210, q6_k),
};

/** The others, for messages. */
const OTHER_TYPES: Readonly<Record<number, string>> = {
  9: 'Q8_1',
  15: 'Q8_K',
  16: 'IQ2_XXS',
  17: 'IQ2_XS',
  18: 'IQ3_XXS',
  19: 'IQ1_S',
  21: 'IQ3_S',
  22: 'IQ2_S',
  23: 'IQ4_XS',
  24: 'I8',
  25: 'I16',
  26: 'I32',
  27: 'I64',
  28: 'F64',
  29: 'IQ1_M',
  34: 'TQ1_0',
  35: 'TQ2_0',
  39: 'MXFP4',
  40: 'NVFP4',
};

/** A type by its number; null: it can't be read. */
export function tensorType(number: number): TensorType | null {
  return TYPES[number] ?? null;
}

export function typeName(number: number): string {
  return tensorType(number)?.name ?? OTHER_TYPES[number] ?? `of number ${number}`;
}

/** All types that can be read. */
export const READABLE_TYPES: readonly TensorType[] = Object.values(TYPES);

/** Whole blocks as float32. */
export function dequantise(
  bytes: Buffer<ArrayBuffer>,
  { name, block, bytes: width, decode }: TensorType,
): Float32Array<ArrayBuffer> {
  if (decode === null) return toFloat32(bytes, name as 'F32' | 'F16' | 'BF16');
  const out = new Float32Array((bytes.length / width) * block);
  for (let at = 0, to = 0; at < bytes.length; at += width, to += block) decode(bytes, at, out, to);
  return out;
}
