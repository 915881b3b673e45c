/** How WGSL reads four neighbouring numbers of a matrix, whatever they are stored as. */
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
  if (!vectors) throw new Error('Expected a 16-bit matrix to have lines of a multiple of four');
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
  return `${head}
  ${unpacked(`${buffer}[first / 4u]`, format)}
}`;
}

/** A return statement of four numbers from an element of the buffer. */
function unpacked(element: string, format: MatrixFormat): string {
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
