/** A byte a number, as FP8 (E4M3) or int8, with a scale for the matrix, each row, or each block or group. */
import { inputError } from '../../errors.ts';
import type { WeightSource } from '../../tensor/weights.ts';
import { asInt8, dequantisedRows, lazy, PLAIN, type QuantisedMatrix, SIGNED, sourceOf } from './matrix.ts';
import type { Parts } from './parts.ts';

/** Sign, four bits of exponent, three of fraction; all ones are NaN. */
const FP8 = Float32Array.from({ length: 256 }, (_, code) => {
  const [exponent, fraction] = [(code >> 3) & 15, code & 7];
  const magnitude = exponent === 0 ? fraction * 2 ** -9 : (8 + fraction) * 2 ** (exponent - 10);
  if ((code & 127) === 127) return Number.NaN;
  return code > 127 ? -magnitude : magnitude;
});

/** FP8 of transformers, vLLM and FBGEMM: scales of the whole matrix, of rows or of blocks, in the model's type. */
export function openFp8(parts: Parts): WeightSource | null {
  const scale = ['weight_scale_inv', 'weight_scale'].find((part) => parts.has(part));
  return scale === undefined ? null : openScaled(parts, scale, parts.settings.type);
}

/** compressed-tensors with a byte a number: in the type of the scales. */
export function openNaive(parts: Parts): WeightSource | null {
  return parts.has('weight_scale') ? openScaled(parts, 'weight_scale', parts.type('weight_scale')) : null;
}

function openScaled(parts: Parts, scalePart: string, type: QuantisedMatrix['type']): WeightSource {
  const { rows, columns } = parts;
  const codes = parts.bytes('weight', ['F8_E4M3', 'I8'], [rows, columns]);
  const isFp8 = parts.isA('weight', 'F8_E4M3');
  const layout = layoutOf(parts, scalePart);
  const scales = parts.floats(scalePart);
  const points = parts.has('weight_zero_point')
    ? parts.bytes('weight_zero_point', ['I8'], parts.shape(scalePart))
    : null;
  const matrix = lazy((): QuantisedMatrix => {
    const all = codes();
    return {
      ...PLAIN,
      type,
      codes: (first, count) => all.subarray(first * columns, (first + count) * columns),
      levels: isFp8 ? FP8 : SIGNED,
      groupSize: layout.columns,
      scales: spreadOver(parts, scales(), layout),
      zeros: points === null ? null : spreadOver(parts, Float32Array.from(points(), signed), layout),
    };
  });
  const readRows = (first: number, count: number) => dequantisedRows(matrix(), first, count);
  const kept = isFp8 || points !== null ? undefined : asInt8(columns, layout.columns, matrix);
  return sourceOf(parts, type, readRows, kept);
}

const signed = (code: number): number => SIGNED[code] as number;

/** Rows and columns that share a scale. */
interface Layout {
  readonly rows: number;
  readonly columns: number;
}

/** By the shape of the scales; blocks may go over the matrix's end. */
function layoutOf(parts: Parts, part: string): Layout {
  const { rows, columns, settings } = parts;
  const shape = parts.shape(part);
  const size = shape.reduce((a, b) => a * b, 1);
  if (size === 1) return { rows, columns };
  const [down = 0, across = 1] = shape;
  if (shape.length <= 2 && down === rows && across === 1) return { rows: 1, columns };
  const grid = ({ rows: r, columns: c }: Layout): boolean =>
    down === Math.ceil(rows / r) && across === Math.ceil(columns / c);
  const group = settings.groupSize ?? columns / across;
  const wanted =
    settings.block === null ? { rows: 1, columns: group } : { rows: settings.block[0], columns: settings.block[1] };
  if (shape.length === 2 && Number.isInteger(wanted.columns) && grid(wanted)) return wanted;
  throw inputError(
    'BAD_SHAPE',
    `${parts.path}: the scales of "${parts.module}.weight" [${rows}, ${columns}] have a shape that its quantisation doesn't explain: [${shape.join(', ')}]`,
    'Copy or download the whole model folder again.',
  );
}

/** [rows, groups] of scales by block. */
function spreadOver({ rows, columns }: Parts, values: Float32Array, layout: Layout): Float32Array {
  const across = Math.ceil(columns / layout.columns);
  const out = new Float32Array(rows * across);
  for (let row = 0; row < rows; row++)
    for (let group = 0; group < across; group++)
      out[row * across + group] = values[Math.floor(row / layout.rows) * across + group] as number;
  return out;
}
