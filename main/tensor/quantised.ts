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

/** Packs numbers from the beginning of a block on; what is missing of the last block is 0. */
export function quantise(values: Float32Array, kind: Quantised): Packed {
  const blocks = blocksOf(values.length);
  const scales = new Float32Array(blocks);
  const data = new Uint8Array(quantisedDataBytes(values.length, kind));
  const level = kind === 'nf4' ? nearestLevel : nearestByte;
  for (let block = 0; block < blocks; block++) {
    const first = block * QUANTISED_BLOCK;
    const end = Math.min(values.length, first + QUANTISED_BLOCK);
    let scale = 0;
    for (let i = first; i < end; i++) scale = Math.max(scale, Math.abs(values[i] as number));
    scales[block] = scale;
    const inverse = scale === 0 ? 0 : 1 / scale;
    for (let i = first; i < first + QUANTISED_BLOCK; i++) {
      const q = level(i < end ? (values[i] as number) * inverse : 0);
      if (kind === 'int8') data[i] = q;
      else data[i >> 1] = (data[i >> 1] as number) | (q << (4 * (i & 1)));
    }
  }
  return { data, scales };
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

const nearestByte = (x: number): number => Math.round(127 * x) & 255;

/** Half-way between neighbouring levels. */
const BETWEEN = NF4_LEVELS.slice(1).map((level, i) => (level + (NF4_LEVELS[i] as number)) / 2);

/** Equal parts of [-1, 1], narrower than any two levels are apart: of each, the level at its lower end. */
const PARTS = 64;
const LEVEL_FROM = Uint8Array.from(
  { length: PARTS + 1 },
  (_, part) => BETWEEN.filter((middle) => middle < (2 * part) / PARTS - 1).length,
);

function nearestLevel(x: number): number {
  // Rounding may leave x a little outside ±1.
  const part = Math.min(PARTS, Math.max(0, Math.floor(((x + 1) * PARTS) / 2)));
  const level = LEVEL_FROM[part] as number;
  return x > (BETWEEN[level] ?? Number.POSITIVE_INFINITY) ? level + 1 : level;
}
