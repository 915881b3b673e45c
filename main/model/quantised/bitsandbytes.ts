/** bitsandbytes: nf4 and fp4 in blocks of a flattened matrix, int8 with a scale a row. */
import { z } from 'zod';
import { inputError } from '../../errors.ts';
import { parseJson } from '../../io/json.ts';
import { NF4_LEVELS, type Packed, QUANTISED_BLOCK } from '../../tensor/quantised.ts';
import type { WeightSource } from '../../tensor/weights.ts';
import { issuesOf } from '../shown.ts';
import { asInt8, dequantisedRows, lazy, PLAIN, type QuantisedMatrix, SIGNED, sourceOf } from './matrix.ts';
import type { Parts } from './parts.ts';

const FP4_MAGNITUDES = [0, 0.0052083333, 0.66666667, 1, 0.33333333, 0.5, 0.16666667, 0.25];
const LEVELS = {
  nf4: Float32Array.from(NF4_LEVELS),
  fp4: Float32Array.from([...FP4_MAGNITUDES, ...FP4_MAGNITUDES.map((x) => 0 - x)]),
} as const;
const TYPES = { float32: 'F32', float16: 'F16', bfloat16: 'BF16' } as const;
const BLOCKS = [32, 64, 128, 256, 512, 1024, 2048, 4096] as const;

const state = z.looseObject({
  quant_type: z.literal(['nf4', 'fp4']),
  blocksize: z.literal(BLOCKS),
  dtype: z.literal(['float32', 'float16', 'bfloat16']),
  shape: z.array(z.int()),
  nested_blocksize: z.literal(BLOCKS).optional(),
  nested_offset: z.number().optional(),
});
type State = z.infer<typeof state>;
const LARGEST_STATE = 4096;

export function openBitsandbytes(parts: Parts): WeightSource | null {
  if (parts.has('SCB')) return openInt8(parts);
  return parts.has('weight.absmax') ? openFourBits(parts) : null;
}

function openInt8(parts: Parts): WeightSource {
  const { rows, columns, settings } = parts;
  const codes = parts.bytes('weight', ['I8'], [rows, columns]);
  const scales = parts.floats('SCB', [rows]);
  const matrix = lazy((): QuantisedMatrix => {
    const all = codes();
    return {
      ...PLAIN,
      type: settings.type,
      codes: (first, count) => all.subarray(first * columns, (first + count) * columns),
      levels: SIGNED,
      groupSize: columns,
      scales: scales(),
      factor: Math.fround(1 / 127),
    };
  });
  const readRows = (first: number, count: number) => dequantisedRows(matrix(), first, count);
  return sourceOf(parts, settings.type, readRows, asInt8(columns, columns, matrix));
}

function openFourBits(parts: Parts): WeightSource {
  const { rows, columns } = parts;
  const kind = parts.has('weight.quant_state.bitsandbytes__nf4') ? 'nf4' : 'fp4';
  const { blocksize, dtype, ...nested } = readState(parts, `weight.quant_state.bitsandbytes__${kind}`);
  const size = rows * columns;
  const bytes = Math.ceil(size / 2);
  // Two codes a byte; where they are stored as numbers of 16 or 32 bits, in so many fewer.
  const types = { U8: 1, BF16: 2, F16: 2, F32: 4 } as const;
  const shapes = [1, 2, 4].map((width) => [bytes / width, 1]);
  const packed = lazy(parts.bytes('weight', Object.keys(types), ...shapes));
  const scales = lazy(scalesOf(parts, Math.ceil(size / blocksize), nested));
  const levels = LEVELS[kind];
  const readRows = (first: number, count: number): Float32Array<ArrayBuffer> => {
    const from = first * columns;
    const out = new Float32Array(count * columns);
    const [pairs, largest] = [packed(), scales()];
    for (let i = 0; i < out.length; i++) {
      const at = from + i;
      const pair = pairs[at >> 1] as number;
      const code = (at & 1) === 0 ? pair >> 4 : pair & 15;
      out[i] = (levels[code] as number) * (largest[Math.floor(at / blocksize)] as number);
    }
    return out;
  };
  // The same blocks; the first number of a pair in the other half of the byte.
  const kept = (first: number, count: number): Packed => ({
    data: Uint8Array.from(
      packed().subarray(first / 2, (first + count) / 2),
      (pair) => (pair >> 4) | ((pair & 15) << 4),
    ),
    scales: scales().slice(first / QUANTISED_BLOCK, (first + count) / QUANTISED_BLOCK),
  });
  const fits = kind === 'nf4' && blocksize === QUANTISED_BLOCK && size % QUANTISED_BLOCK === 0;
  return sourceOf(parts, TYPES[dtype], readRows, fits ? { kind: 'nf4', read: kept } : undefined);
}

/** Scales of the blocks, which may be quantised themselves. */
function scalesOf(
  parts: Parts,
  blocks: number,
  { nested_blocksize: size, nested_offset: offset = 0 }: Pick<State, 'nested_blocksize' | 'nested_offset'>,
): () => Float32Array<ArrayBuffer> {
  if (size === undefined) return parts.floats('weight.absmax', [blocks]);
  const codes = parts.bytes('weight.absmax', ['U8'], [blocks]);
  const levels = parts.floats('weight.nested_quant_map', [256]);
  const scales = parts.floats('weight.nested_absmax', [Math.ceil(blocks / size)]);
  const base = Math.fround(offset);
  return () => {
    const [of, over] = [levels(), scales()];
    return Float32Array.from(codes(), (code, i) => {
      return Math.fround((of[code] as number) * (over[Math.floor(i / size)] as number)) + base;
    });
  };
}

function readState(parts: Parts, part: string): State {
  const [length = 0] = parts.shape(part);
  const refused = (why: string) =>
    inputError(
      'BAD_SHAPE',
      `${parts.path}: "${parts.module}.${part}" doesn't describe its weight (${why})`,
      'Copy or download the whole model folder again.',
    );
  if (length > LARGEST_STATE) throw refused(`${length} bytes`);
  let value: unknown;
  try {
    value = parseJson(parts.bytes(part, ['U8'], [length])().toString('utf8'));
  } catch {
    throw refused('no JSON');
  }
  const { data, error } = state.safeParse(value, { reportInput: true });
  if (data === undefined) throw refused(issuesOf(error));
  if (data.shape.join() === [parts.rows, parts.columns].join()) return data;
  throw refused(
    `expected shape [${parts.rows}, ${parts.columns}] by config.json, got [${data.shape.join(', ').slice(0, 80)}]`,
  );
}
