/** Rows of packed codes: MLX's affine groups, and compressed-tensors' pack-quantized. */
import { inputError } from '../../errors.ts';
import type { WeightSource } from '../../tensor/weights.ts';
import { codeInColumn, unpackBits, wordsOf } from './bits.ts';
import { groupIndices } from './columns.ts';
import { lazy, opened } from './matrix.ts';
import type { Parts } from './parts.ts';

/** scale · code + bias, each rounded to the scales' type. */
export function openMlx(parts: Parts): WeightSource | null {
  if (!parts.has('scales')) return null;
  const { rows, columns } = parts;
  const { codes } = packedRows(parts, 'weight', ['U32']);
  const groupSize = groupSizeOf(parts, 'scales');
  const groups = [rows, columns / groupSize];
  const [scales, biases] = [parts.floats('scales', groups), parts.floats('biases', groups)];
  return opened(parts, parts.type('scales'), () => ({ codes, groupSize, scales: scales(), biases: biases() }));
}

/** (code − 2^(bits − 1) − zero point) · scale; zero points are packed down the columns, and from the same middle. */
export function openPacked(parts: Parts): WeightSource | null {
  if (!parts.has('weight_packed')) return null;
  const { rows, columns } = parts;
  const { codes, bits } = packedRows(parts, 'weight_packed', ['I32']);
  const groupSize = groupSizeOf(parts, 'weight_scale');
  const groups = columns / groupSize;
  const scales = fullScales(parts, groups);
  const lines = [Math.ceil((rows * bits) / 32), groups];
  const points = parts.has('weight_zero_point') ? parts.bytes('weight_zero_point', ['I32'], lines) : null;
  const zeros = (): Float32Array =>
    points === null
      ? new Float32Array(rows * groups).fill(2 ** (bits - 1))
      : transposedZeros(points(), { rows, groups, bits });
  const groupOf = parts.has('weight_g_idx') ? groupIndices(parts, 'weight_g_idx', groups) : () => null;
  return opened(parts, parts.type('weight_scale'), () => ({
    codes,
    groupOf: groupOf(),
    groupSize,
    scales: scales(),
    zeros: zeros(),
  }));
}

/** Bits are what the words' number says: layers may differ from each other. */
function packedRows(parts: Parts, part: string, types: readonly string[]) {
  const { rows, columns } = parts;
  const [, words = 0] = parts.shape(part);
  const bits = Math.floor((32 * words) / columns);
  const isIt = bits >= 1 && bits <= 8 && Math.ceil((columns * bits) / 32) === words;
  const all = lazy(parts.bytes(part, types, [rows, isIt ? words : Math.ceil((columns * parts.settings.bits) / 32)]));
  const codes = (first: number, count: number): Uint8Array => {
    const from = all();
    const out = new Uint8Array(count * columns);
    for (let row = 0; row < count; row++)
      out.set(unpackBits(from, 4 * words * (first + row), bits, columns), row * columns);
    return out;
  };
  return { codes, bits };
}

/** Columns of a group: what the scales' number says. */
function groupSizeOf(parts: Parts, part: string): number {
  const [first = 1, groups = 1] = parts.shape(part);
  const size = parts.columns / groups;
  if ((first === parts.rows || first === 1) && Number.isInteger(size)) return size;
  throw inputError(
    'BAD_SHAPE',
    `${parts.path}: expected "${parts.module}.${part}" for whole groups of a matrix [${parts.rows}, ${parts.columns}], got [${parts.shape(part).join(', ')}]`,
    'Copy or download the whole model folder again.',
  );
}

/** One scale of the whole matrix counts for each row. */
function fullScales(parts: Parts, groups: number): () => Float32Array {
  const read = parts.floats('weight_scale', [parts.rows, groups], [1]);
  return () => {
    const scales = read();
    return scales.length === 1 && parts.rows > 1 ? new Float32Array(parts.rows).fill(scales[0] as number) : scales;
  };
}

/** As zeros of unsigned codes [rows, groups], from zero points that are packed along the rows. */
function transposedZeros(
  bytes: Buffer<ArrayBuffer>,
  { rows, groups, bits }: { readonly rows: number; readonly groups: number; readonly bits: number },
): Float32Array {
  const words = wordsOf(bytes);
  const zeros = new Float32Array(rows * groups);
  for (let row = 0; row < rows; row++)
    for (let group = 0; group < groups; group++)
      zeros[row * groups + group] = codeInColumn(words, group, groups, row, bits);
  return zeros;
}
