/** A quantised matrix [rows, columns]: codes, and scales that groups of them share. */
import { toBfloat16 } from '../../tensor/bfloat16.ts';
import { type Packed, QUANTISED_BLOCK } from '../../tensor/quantised.ts';
import type { WeightSource } from '../../tensor/weights.ts';
import { allFinite, encodeFloats, type FloatType, notFinite, toFloat32 } from '../safetensors.ts';
import type { Parts } from './parts.ts';

/** number = level(code) − zero, times scale, plus bias: each step rounded as the method's own code rounds it. */
export interface QuantisedMatrix {
  readonly type: FloatType;
  /** The codes of `count` rows from row `first` on. */
  codes(first: number, count: number): Uint8Array;
  /** What each code stands for. */
  readonly levels: Float32Array;
  /** Columns' groups: null, `groupSize` consecutive ones each. */
  readonly groupOf: Int32Array | null;
  readonly groupSize: number;
  /** [rows, groups] each. */
  readonly scales: Float32Array;
  readonly zeros: Float32Array | null;
  readonly biases: Float32Array | null;
  /** A second factor of all numbers. */
  readonly factor: number;
}

/** What is made when it is first asked for: weights are only checked where nobody reads them. */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Numbers that are unpacked at a time. */
const PIECE = 2 ** 20;

/** `readRows`: dequantised rows in float32, not yet rounded to `type`. */
export function sourceOf(
  { module, path, rows, columns }: Pick<Parts, 'module' | 'path' | 'rows' | 'columns'>,
  type: FloatType,
  readRows: (first: number, count: number) => Float32Array<ArrayBuffer>,
  packed?: WeightSource['packed'],
): WeightSource {
  const name = `${module}.weight`;
  const readRaw = (first: number, count: number): Buffer<ArrayBuffer> => {
    const from = Math.floor(first / columns);
    const end = Math.min(rows, Math.ceil((first + count) / columns));
    const values = readRows(from, end - from).subarray(first - from * columns, first - from * columns + count);
    const bytes = encodeFloats(values, type, name) as Buffer<ArrayBuffer>;
    if (!allFinite(bytes, type)) throw notFinite(name, path);
    return bytes;
  };
  const readPart = (first: number, count: number) => toFloat32(readRaw(first, count), type);
  // A few rows at a time, so that a matrix isn't in memory in three forms.
  const read = (): Float32Array<ArrayBuffer> => {
    const out = new Float32Array(rows * columns);
    const most = columns * Math.max(1, Math.floor(PIECE / columns));
    for (let at = 0; at < out.length; at += most) out.set(readPart(at, Math.min(most, out.length - at)), at);
    return out;
  };
  return { type, read, readPart, readRaw, ...(packed !== undefined && { packed }) };
}

/** What most methods don't have. */
export const PLAIN = { groupOf: null, zeros: null, biases: null, factor: 1 } as const;

/** A matrix of unsigned codes as a source. */
export function opened(
  parts: Parts,
  type: FloatType,
  open: () => Omit<QuantisedMatrix, 'type' | 'levels' | keyof typeof PLAIN> & Partial<QuantisedMatrix>,
): WeightSource {
  const matrix = lazy((): QuantisedMatrix => ({ ...PLAIN, levels: UNSIGNED, type, ...open() }));
  return sourceOf(parts, type, (first, count) => dequantisedRows(matrix(), first, count));
}

export function dequantisedRows(matrix: QuantisedMatrix, first: number, count: number): Float32Array<ArrayBuffer> {
  const { levels, scales, zeros, biases, factor, type } = matrix;
  const codes = matrix.codes(first, count);
  const columns = codes.length / count;
  const groups = groupsOf(matrix, columns);
  const perRow = Math.ceil(columns / matrix.groupSize);
  const out = new Float32Array(codes.length);
  for (let row = 0; row < count; row++) {
    const own = (first + row) * perRow;
    for (let c = 0; c < columns; c++) {
      const i = row * columns + c;
      const group = own + (groups[c] as number);
      const level = levels[codes[i] as number] as number;
      out[i] = (zeros === null ? level : level - (zeros[group] as number)) * (scales[group] as number);
    }
  }
  if (factor !== 1) for (let i = 0; i < out.length; i++) out[i] = (out[i] as number) * factor;
  if (biases === null) return out;
  roundTo(type, out);
  for (let row = 0; row < count; row++)
    for (let c = 0; c < columns; c++) {
      const i = row * columns + c;
      out[i] = (out[i] as number) + (biases[(first + row) * perRow + (groups[c] as number)] as number);
    }
  return out;
}

function groupsOf({ groupOf, groupSize }: QuantisedMatrix, columns: number): Int32Array {
  return groupOf ?? Int32Array.from({ length: columns }, (_, c) => Math.floor(c / groupSize));
}

/** Rounds in place. */
function roundTo(type: FloatType, values: Float32Array): void {
  if (type === 'F16') values.set(toFloat32(encodeFloats(values, type, '') as Buffer<ArrayBuffer>, type));
  if (type !== 'BF16') return;
  const halves = toBfloat16(values);
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  for (let i = 0; i < words.length; i++) words[i] = (halves[i] as number) << 16;
}

/** Codes of 8 bits that are numbers themselves. */
export const SIGNED = Float32Array.from({ length: 256 }, (_, code) => (code << 24) >> 24);
const UNSIGNED = Float32Array.from({ length: 256 }, (_, code) => code);

/** Such a matrix as Braid's own kernels have int8; undefined where its groups aren't whole blocks. */
export function asInt8(columns: number, groupSize: number, matrix: () => QuantisedMatrix): WeightSource['packed'] {
  if (groupSize % QUANTISED_BLOCK !== 0 || columns % QUANTISED_BLOCK !== 0) return undefined;
  const perRow = Math.ceil(columns / groupSize);
  const read = (first: number, count: number): Packed => {
    const { codes: codesOf, scales, factor } = matrix();
    const from = Math.floor(first / columns);
    const codes = codesOf(from, Math.ceil((first + count) / columns) - from);
    const data = Uint8Array.from(codes.subarray(first - from * columns, first - from * columns + count));
    const scaleOf = (_: unknown, block: number): number => {
      const at = first + block * QUANTISED_BLOCK;
      const [row, column] = [Math.floor(at / columns), at % columns];
      return (scales[row * perRow + Math.floor(column / groupSize)] as number) * factor * 127;
    };
    return { data, scales: Float32Array.from({ length: count / QUANTISED_BLOCK }, scaleOf) };
  };
  return { kind: 'int8', read };
}
