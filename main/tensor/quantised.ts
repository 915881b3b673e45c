/**
 * Frozen matrices in 8 or 4 bits. Numbers form blocks of 64 as they lie in the file, each with its largest
 * absolute value in float32 as the scale:
 *
 *   int8   q = round(127 · x / scale);  x ≈ scale · q / 127
 *   nf4    the nearest of 16 levels to x / scale, the quantiles of a normal distribution (QLoRA, arXiv 2305.14314)
 *
 * In memory: the numbers of all blocks, the first in the lowest bits of a word, then the blocks' scales.
 */
export const QUANTISED = ['int8', 'nf4'] as const;
export type Quantised = (typeof QUANTISED)[number];

/** Numbers that share a scale. */
export const QUANTISED_BLOCK = 64;

/** NF4's levels, appendix E of the paper. */
export const NF4_LEVELS: readonly number[] = [
  ...[-1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635],
  ...[-0.18477343022823334, -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725],
  ...[0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1],
];

const BITS: Readonly<Record<Quantised, 8 | 4>> = { int8: 8, nf4: 4 };

/** Bytes of so many numbers without their scales; whole blocks are kept. */
export function quantisedDataBytes(size: number, kind: Quantised): number {
  return (blocksOf(size) * QUANTISED_BLOCK * BITS[kind]) / 8;
}

/** Bytes of so many numbers and their scales. */
export function quantisedBytes(size: number, kind: Quantised): number {
  return quantisedDataBytes(size, kind) + 4 * blocksOf(size);
}

/** Whole or begun blocks. */
export function blocksOf(size: number): number {
  return Math.ceil(size / QUANTISED_BLOCK);
}

export function isQuantised(precision: string): precision is Quantised {
  return precision === 'int8' || precision === 'nf4';
}

/** Numbers as they are kept. */
export interface Packed {
  readonly data: Uint8Array<ArrayBuffer>;
  readonly scales: Float32Array<ArrayBuffer>;
}

/**
 * Packs numbers from the beginning of a block on; what is missing of the last block is 0. Billions of numbers pass
 * through here before a model is there, so each kind has a loop of its own without calls.
 */
export function quantise(values: Float32Array, kind: Quantised): Packed {
  const blocks = blocksOf(values.length);
  const scales = new Float32Array(blocks);
  const data = new Uint8Array(quantisedDataBytes(values.length, kind));
  const pack = kind === 'nf4' ? packLevels : packBytes;
  const last = new Float32Array(QUANTISED_BLOCK);
  for (let block = 0; block < blocks; block++) {
    const first = block * QUANTISED_BLOCK;
    const whole = first + QUANTISED_BLOCK <= values.length;
    if (!whole) last.set(values.subarray(first));
    const [from, at] = whole ? [values, first] : [last, 0];
    const scale = largestOf(from, at);
    scales[block] = scale;
    pack(from, at, scale === 0 ? 0 : 1 / scale, data, (first * BITS[kind]) / 8);
  }
  return { data, scales };
}

/** The largest absolute value of a block. */
function largestOf(values: Float32Array, first: number): number {
  let largest = 0;
  for (let i = first; i < first + QUANTISED_BLOCK; i++) {
    const size = Math.abs(values[i] as number);
    // NaN stays: nothing is above it.
    if (size > largest || Number.isNaN(size)) largest = size;
  }
  return largest;
}

function packBytes(values: Float32Array, first: number, inverse: number, data: Uint8Array, at: number): void {
  for (let i = 0; i < QUANTISED_BLOCK; i++)
    data[at + i] = Math.round(127 * ((values[first + i] as number) * inverse)) & 255;
}

/** Half-way between neighbouring levels; nothing is above the last. */
const BETWEEN = Float64Array.from(
  NF4_LEVELS,
  (level, i) => (level + (NF4_LEVELS[i + 1] ?? Number.POSITIVE_INFINITY)) / 2,
);

/** Equal parts of [-1, 1], narrower than any two levels are apart: of each, the level at its lower end. */
const PARTS = 64;
const LEVEL_FROM = Uint8Array.from(
  { length: PARTS + 1 },
  (_, part) => BETWEEN.filter((middle) => middle < (2 * part) / PARTS - 1).length,
);

function packLevels(values: Float32Array, first: number, inverse: number, data: Uint8Array, at: number): void {
  // Without branches: whether a number is above a middle is nothing that a processor can guess.
  for (let i = 0; i < QUANTISED_BLOCK; i += 2) {
    const [x, y] = [(values[first + i] as number) * inverse, (values[first + i + 1] as number) * inverse];
    // Rounding may leave them a little outside ±1.
    const partX = Math.min(PARTS, Math.max(0, ((x + 1) * (PARTS / 2)) | 0));
    const partY = Math.min(PARTS, Math.max(0, ((y + 1) * (PARTS / 2)) | 0));
    const [lowX, lowY] = [LEVEL_FROM[partX] as number, LEVEL_FROM[partY] as number];
    const levelX = lowX + Number(x > (BETWEEN[lowX] as number));
    const levelY = lowY + Number(y > (BETWEEN[lowY] as number));
    data[at + (i >> 1)] = levelX | (levelY << 4);
  }
}

/** The numbers that are computed with, `count` of them. */
export function dequantise({ data, scales }: Packed, kind: Quantised, count: number): Float32Array<ArrayBuffer> {
  const bytes = new Int8Array(data.buffer, data.byteOffset, data.byteLength);
  return Float32Array.from({ length: count }, (_, i) => {
    const scale = scales[Math.floor(i / QUANTISED_BLOCK)] as number;
    if (kind === 'int8') return scale * ((bytes[i] as number) / 127);
    return scale * (NF4_LEVELS[((data[i >> 1] as number) >> (4 * (i & 1))) & 15] as number);
  });
}
