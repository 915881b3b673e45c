/** GPTQ and AWQ: matrices [columns, rows], that is transposed, in words of 32 bits. */
import { inputError } from '../../errors.ts';
import type { WeightSource } from '../../tensor/weights.ts';
import { codeInColumn, unpackBits, wordsOf } from './bits.ts';
import { lazy, opened } from './matrix.ts';
import type { Parts } from './parts.ts';

/** Codes run down the columns of words, zero points along their rows. */
export function openGptq(parts: Parts): WeightSource | null {
  if (!parts.has('qweight')) return null;
  const { rows, columns, settings } = parts;
  const { bits, zeroOffset } = settings;
  const { groupSize, groups } = groupsOf(parts);
  const read = parts.bytes('qweight', ['I32'], [(columns * bits) / 32, rows]);
  const all = lazy(() => wordsOf(read()));
  const points = parts.bytes('qzeros', ['I32'], [groups, (rows * bits) / 32]);
  const mask = 2 ** bits - 1;
  const zeros = (): Float32Array => {
    const bytes = points();
    return transposed(groups, rows, (group) =>
      unpackBits(bytes, (group * rows * bits) / 8, bits, rows).map((code) => (code + zeroOffset) & mask),
    );
  };
  const codes = (first: number, count: number): Uint8Array => {
    const words = all();
    const out = new Uint8Array(count * columns);
    for (let row = 0; row < count; row++)
      for (let c = 0; c < columns; c++) out[row * columns + c] = codeInColumn(words, first + row, rows, c, bits);
    return out;
  };
  const groupOf = parts.has('g_idx') ? groupIndices(parts, 'g_idx', groups) : () => null;
  const scales = scalesOf(parts, groups);
  return opened(parts, parts.type('scales'), () => ({
    codes,
    groupOf: groupOf(),
    groupSize,
    zeros: zeros(),
    scales: scales(),
  }));
}

/** Where each of eight neighbouring rows lies in its word. */
const AWQ_PLACES = [0, 4, 1, 5, 2, 6, 3, 7] as const;

export function openAwq(parts: Parts): WeightSource | null {
  if (!parts.has('qweight')) return null;
  const { rows, columns } = parts;
  const { groupSize, groups } = groupsOf(parts);
  const read = parts.bytes('qweight', ['I32'], [columns, rows / 8]);
  const all = lazy(() => wordsOf(read()));
  const points = parts.bytes('qzeros', ['I32'], [groups, rows / 8]);
  const codeAt = (from: Uint32Array, line: number, row: number): number =>
    ((from[(line * rows) / 8 + (row >> 3)] as number) >>> (4 * (AWQ_PLACES[row & 7] as number))) & 15;
  const zeros = (): Float32Array => {
    const words = wordsOf(points());
    return transposed(groups, rows, (group) =>
      Uint8Array.from({ length: rows }, (_, row) => codeAt(words, group, row)),
    );
  };
  const codes = (first: number, count: number): Uint8Array => {
    const words = all();
    const out = new Uint8Array(count * columns);
    for (let row = 0; row < count; row++)
      for (let c = 0; c < columns; c++) out[row * columns + c] = codeAt(words, c, first + row);
    return out;
  };
  const scales = scalesOf(parts, groups);
  return opened(parts, parts.type('scales'), () => ({ codes, groupSize, zeros: zeros(), scales: scales() }));
}

function groupsOf({ columns, settings: { groupSize } }: Parts) {
  const size = groupSize ?? columns;
  return { groupSize: size, groups: Math.ceil(columns / size) };
}

function scalesOf(parts: Parts, groups: number): () => Float32Array {
  const read = parts.floats('scales', [groups, parts.rows]);
  const line = (scales: Float32Array, group: number) => scales.subarray(group * parts.rows, (group + 1) * parts.rows);
  return () => {
    const scales = read();
    return transposed(groups, parts.rows, (group) => line(scales, group));
  };
}

/** [rows, groups] from lines of a group each. */
function transposed(groups: number, rows: number, line: (group: number) => ArrayLike<number>): Float32Array {
  const out = new Float32Array(rows * groups);
  for (let group = 0; group < groups; group++) {
    const values = line(group);
    for (let row = 0; row < rows; row++) out[row * groups + group] = values[row] as number;
  }
  return out;
}

/** The group of each column, where these were quantised in another order. */
export function groupIndices(parts: Parts, part: string, groups: number): () => Int32Array {
  const read = parts.bytes(part, ['I32'], [parts.columns]);
  return () => checkedIndices(parts, part, read(), groups);
}

function checkedIndices(parts: Parts, part: string, bytes: Buffer<ArrayBuffer>, groups: number): Int32Array {
  const indices = new Int32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  const strange = indices.find((group) => group < 0 || group >= groups);
  if (strange === undefined) return indices;
  throw inputError(
    'BAD_SHAPE',
    `${parts.path}: expected groups from 0 to ${groups - 1} in "${parts.module}.${part}", got ${strange}`,
    'Copy or download the whole model folder again.',
  );
}
