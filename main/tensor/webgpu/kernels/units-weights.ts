/** How products on matrix units read weights, eight at a time, and what they put into the panel of them. */
import { isQuantised, NF4_LEVELS, QUANTISED_BLOCK, type Quantised } from '../../quantised.ts';
import { range } from '../program.ts';

export type UnitsFormat = 'bf16' | 'f16' | Quantised;

/** What quantised weights are multiplied by, so that the second half of a small one is still a number of 16 bits. */
export const QUANTISED_SCALE = 16;

/** Of eight numbers in a register's four words, the even and the odd ones as a unit's. */
export function evenAndOdd(format: 'bf16' | 'f16', element: 'f16' | 'f32', register: string): readonly string[] {
  if (format === 'bf16')
    return [`${register} << vec4(16u)`, `${register} & vec4(0xffff0000u)`].map((bits) =>
      element === 'f16' ? `vec4<f16>(bitcast<vec4<f32>>(${bits}))` : `bitcast<vec4<f32>>(${bits})`,
    );
  const two = element === 'f16' ? 'bitcast<vec2<f16>>' : 'unpack2x16float';
  return ['x', 'y'].map(
    (half) => `vec4<${element}>(${['x', 'y', 'z', 'w'].map((c) => `${two}(${register}.${c}).${half}`).join(', ')})`,
  );
}

/** Half of eight numbers in a register's first words, without their scale. */
export function fourQuantised(format: Quantised, register: string, half: number): string {
  if (format === 'int8') return `unpack4x8snorm(${register}.${half === 0 ? 'x' : 'y'})`;
  return `vec4(${range(4)
    .map((i) => `levels[(${register}.x >> ${4 * (4 * half + i)}u) & 15u]`)
    .join(', ')})`;
}

/** What a buffer of weights is an array of. */
export const unitsElement = (format: UnitsFormat): string => (isQuantised(format) ? 'u32' : 'vec4<u32>');

/** Eight neighbouring numbers of a matrix and, of quantised ones, their scale, which lies behind all numbers. */
function eightOf(format: UnitsFormat, matrix: number): string {
  const buffer = `b${matrix}`;
  if (!isQuantised(format)) return `${buffer}[at]`;
  const words = QUANTISED_BLOCK / (format === 'int8' ? 4 : 8);
  const blocks = `(p.n${matrix} * p.k + ${QUANTISED_BLOCK - 1}u) / ${QUANTISED_BLOCK}u`;
  const scale = `${buffer}[${blocks} * ${words}u + at / ${QUANTISED_BLOCK / 8}u]`;
  const numbers = format === 'int8' ? `${buffer}[2u * at], ${buffer}[2u * at + 1u]` : `${buffer}[at], 0u`;
  return `vec4<u32>(${numbers}, ${scale}, 0u)`;
}

/** A function that reads eight neighbouring numbers of the tile's matrix. */
export function readEight(format: UnitsFormat, matrices: number): string {
  const choices = range(matrices - 1).map((i) => `  if (part == ${i}u) { return ${eightOf(format, i)}; }`);
  return `var<private> part: u32;
fn readW(at: u32) -> vec4<u32> {
${choices.join('\n')}
  return ${eightOf(format, matrices - 1)};
}`;
}

/** Declares what `fillLevels` fills. */
export const levelsOf = (format: UnitsFormat): string =>
  format === 'nf4'
    ? `var<workgroup> levels: array<f32, 16>;
const LEVELS = array<f32, 16>(${NF4_LEVELS.map((level) => `f32(${level})`).join(', ')});`
    : '';

/** Statements before the first barrier. */
export const fillLevels = (format: UnitsFormat): string =>
  format === 'nf4' ? '  if (lane < 16u) { levels[lane] = LEVELS[lane]; }' : '';
