/** How WGSL reads four neighbouring numbers of a matrix, whatever they are stored as. */
import { isQuantised, NF4_LEVELS, QUANTISED_BLOCK, type Quantised } from '../../quantised.ts';
import type { Format } from '../backend.ts';

export type MatrixFormat = Exclude<Format, 'i32'>;

/** How a matrix is read: as whole vectors where its lines are a multiple of four long, number by number otherwise. */
export interface OperandForm {
  readonly format: MatrixFormat;
  readonly vectors: boolean;
}

/** The element type of the operand's buffer. */
export function elementType({ format, vectors }: OperandForm): string {
  if (format === 'f32') return vectors ? 'vec4<f32>' : 'f32';
  if (!vectors) throw new Error('Expected a packed matrix to have lines of a multiple of four');
  if (isQuantised(format)) return 'u32';
  return 'vec2<u32>';
}

/**
 * A function `name(line, at, lines, length)`: numbers at … at+3 of a line, 0 beyond the matrix. `offset` is an
 * expression for the buffer's first number, a multiple of four where vectors are read.
 */
export function readFour(name: string, buffer: string, { format, vectors }: OperandForm, offset = '0u'): string {
  const head = `fn ${name}(line: u32, at: u32, lines: u32, length: u32) -> vec4<f32> {
  if (line >= lines || at >= length) { return vec4<f32>(0.0); }
  let first = ${offset} + line * length + at;`;
  if (format === 'f32' && !vectors)
    return `${head}
  return vec4<f32>(
    ${buffer}[first],
    select(0.0, ${buffer}[min(first + 1u, arrayLength(&${buffer}) - 1u)], at + 1u < length),
    select(0.0, ${buffer}[min(first + 2u, arrayLength(&${buffer}) - 1u)], at + 2u < length),
    select(0.0, ${buffer}[min(first + 3u, arrayLength(&${buffer}) - 1u)], at + 3u < length),
  );
}`;
  if (isQuantised(format)) {
    const levels =
      format === 'nf4' ? `const ${name}Levels = array<f32, 16>(${NF4_LEVELS.map(float).join(', ')});\n` : '';
    return `${levels}${head}
  ${blockwise(name, buffer, format)}
}`;
  }
  return `${head}
  ${unpacked(`${buffer}[first / 4u]`, format)}
}`;
}

const float = (x: number): string => (Number.isInteger(x) ? `${x}.0` : `${x}`);

/** A return statement of four numbers of a block times its scale; the scales lie behind all numbers. */
function blockwise(name: string, buffer: string, format: Quantised): string {
  const words = QUANTISED_BLOCK / (format === 'int8' ? 4 : 8);
  const scale = `let blocks = (lines * length + ${QUANTISED_BLOCK - 1}u) / ${QUANTISED_BLOCK}u;
  let scale = bitcast<f32>(${buffer}[blocks * ${words}u + first / ${QUANTISED_BLOCK}u]);`;
  if (format === 'int8')
    return `${scale}
  return scale * unpack4x8snorm(${buffer}[first / 4u]);`;
  const level = (i: number): string => `${name}Levels[(bits >> ${4 * i}u) & 15u]`;
  return `${scale}
  let bits = ${buffer}[first / 8u] >> (4u * (first & 4u));
  return scale * vec4<f32>(${[0, 1, 2, 3].map(level).join(', ')});`;
}

/** A return statement of four numbers from an element of the buffer. */
function unpacked(element: string, format: Exclude<MatrixFormat, Quantised>): string {
  switch (format) {
    case 'f32':
      return `return ${element};`;
    case 'f16':
      return `let bits = ${element};
  return vec4<f32>(unpack2x16float(bits.x), unpack2x16float(bits.y));`;
    case 'bf16':
      return `let bits = ${element};
  return bitcast<vec4<f32>>(vec4<u32>(bits.x << 16u, bits.x & 0xffff0000u, bits.y << 16u, bits.y & 0xffff0000u));`;
  }
}
