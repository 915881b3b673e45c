/** The panels of both factors in workgroup memory: how they are read into registers and from there converted. */
import { isQuantised } from '../../quantised.ts';
import { range } from '../program.ts';
import { inTwo, panelSizes, type Reading, strideOf, type Tile, UNIT_LANES, weightsInTwo } from './units-tile.ts';
import { evenAndOdd, fourQuantised, levelsOf, QUANTISED_SCALE } from './units-weights.ts';

/** Vectors of four numbers of x, and of eight weights, that a lane reads at a time. */
export const vectorsOfX = ({ rows, depth }: Tile): number[] => range((rows * depth) / 4 / UNIT_LANES);
export const vectorsOfWeights = ({ columns, depth }: Tile): number[] => range((columns * depth) / 8 / UNIT_LANES);

/** The lane's number among all vectors of a panel. */
export const placeOf = (vector: number): string => `(lane + ${vector * UNIT_LANES}u)`;

/** Registers that a lane reads both panels into. */
export const registers = (tile: Tile): string =>
  [
    ...vectorsOfX(tile).map((i) => `  var x${i}: vec4<f32>;`),
    ...vectorsOfWeights(tile).map((i) => `  var w${i}: vec4<u32>;`),
  ].join('\n');

/** Declares the panels. */
export function panels(tile: Tile, reading: Reading): string {
  const { element } = tile.unit;
  const { x, weights } = panelSizes(tile, reading.transposed);
  return `var<workgroup> heads: array<vec4<${element}>, ${x}>;
${inTwo(tile, reading) ? `var<workgroup> rests: array<vec4<${element}>, ${x}>;` : ''}
var<workgroup> weights: array<vec4<${element}>, ${weights}>;
${weightsInTwo(tile, reading) ? `var<workgroup> weightRests: array<vec4<${element}>, ${weights}>;` : ''}
${levelsOf(reading.format)}`;
}

/** The first eleven bits of numbers, by their bits: a compiler may take a conversion to float16 and back for nothing. */
export const cutOff = (x: string): string => `bitcast<vec4<f32>>(bitcast<vec4<u32>>(${x}) & vec4(0xffffe000u))`;

/** Numbers in two parts of eleven bits each, in these panels. */
const twoOf = (x: string, at: string, heads: string, rests: string): string => `
      let head = ${cutOff(x)};
      ${heads}[${at}] = vec4<f16>(head);
      ${rests}[${at}] = vec4<f16>(${x} - head);`;

/** Numbers as the unit's, in the first of these panels. */
const oneOf =
  ({ unit }: Tile) =>
  (x: string, at: string, heads: string): string =>
    `
      ${heads}[${at}] = vec4<${unit.element}>(${x});`;

/** Writes the registers into the panels. */
export function stash(reading: Reading, tile: Tile): string {
  const { format, transposed } = reading;
  const { columns, depth, unit } = tile;
  const split = inTwo(tile, reading) ? twoOf : oneOf(tile);
  const x = vectorsOfX(tile).map((i) => {
    const at = placeOf(i);
    return `    {
      let at = ${at} / ${depth / 4}u * ${strideOf(tile, depth)}u + ${at} % ${depth / 4}u;
      let scaled = x${i}${unit.element === 'f16' ? ' * scale' : ''};${split('scaled', 'at', 'heads', 'rests')}
    }`;
  });
  const [perLine, line] = transposed ? [depth / 8, strideOf(tile, depth)] : [columns / 8, strideOf(tile, columns)];
  const w = vectorsOfWeights(tile).map((i) => {
    const at = placeOf(i);
    const place = `let at = ${at} / ${perLine}u * ${line}u + ${at} % ${perLine}u * 2u;`;
    if (isQuantised(format))
      return `    {
      ${place}
      let size = ${unit.element === 'f16' ? `${QUANTISED_SCALE}.0 * ` : ''}bitcast<f32>(w${i}.z);
${[0, 1]
  .map(
    (half) => `      {
      let four = size * ${fourQuantised(format, `w${i}`, half)};${split('four', `at + ${half}u`, 'weights', 'weightRests')}
      }`,
  )
  .join('\n')}
    }`;
    const [even, odd] = evenAndOdd(format, unit.element, `w${i}`);
    return `    {
      ${place}
      let even = ${even};
      let odd = ${odd};
      weights[at] = vec4(even.x, odd.x, even.y, odd.y);
      weights[at + 1u] = vec4(even.z, odd.z, even.w, odd.w);
    }`;
  });
  return [...x, ...w].join('\n');
}
