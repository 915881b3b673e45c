/** The tile of a decoding product on matrix units: the program of product-units.ts for few rows, up to its sums. */
import { range } from '../program.ts';
import { fragments, largest, multiply, panels, registers, stash, sumsOf, TILES, unscaled } from './product-units.ts';
import { fillLevels, readEight, type UnitsFormat } from './units-weights.ts';

const TILE = TILES['few rows'];
const { depth, columns } = TILE;

/** How the factors are read: product-units.ts says what `rounded` is. */
export interface UnitsReading {
  readonly format: UnitsFormat;
  readonly rounded: boolean;
}

/** Vectors of eight weights that a lane reads at a time. */
const weightsAtATime = (lanes: number): number[] => range((columns * depth) / 8 / lanes);

export const unitsDeclarations = (key: UnitsReading, matrices: number, lanes: number): string => `
${panels(TILE, { ...key, transposed: true })}
var<workgroup> scratch: array<f32, ${lanes}>;
${readEight(key.format, matrices)}`;

/**
 * Statements that leave x·wᵀ from `begin` to `end` of K in `target`. `lineOf` gives a column's matrix and line of it.
 */
export function unitsStatements(
  { format, rounded }: UnitsReading,
  lanes: number,
  lineOf: (column: string) => readonly [part: string, line: string],
  target: string,
): string {
  const key = { format, transposed: true, rounded };
  const vectors = depth / 4;
  const at = (i: number): string => `(lane + ${i * lanes}u)`;
  const xs = range((TILE.rows * depth) / 4 / lanes);
  const corners = [
    ...xs.map(
      (i) =>
        `  let xAt${i} = p.rowsAt + min(row0 + ${at(i)} / ${vectors}u, p.m - 1u) * (p.k / 4u) + ${at(i)} % ${vectors}u;`,
    ),
    ...weightsAtATime(lanes).map((i) => {
      const [part, line] = lineOf(`(${at(i)} / ${depth / 8}u)`);
      return `  let wPart${i} = ${part};\n  let wAt${i} = ${line} * (p.k / 8u) + ${at(i)} % ${depth / 8}u;`;
    }),
  ];
  const fetch = [
    ...xs.map((i) => `    x${i} = x[xAt${i} + k0 / 4u];`),
    ...weightsAtATime(lanes).map((i) => `    part = wPart${i};\n    w${i} = readW(wAt${i} + k0 / 8u);`),
  ].join('\n');
  const sums = sumsOf(TILE);
  return `
  let sx = lane / 32u;
  let sy = 0u;
${fillLevels(format)}
${largest(TILE, lanes, 'p.rowsAt')}
  // A power of two that brings the largest number to 2^14 … 2^15.
  let exponent = clamp(bitcast<u32>(most) >> 23u, 15u, 254u);
  let scale = bitcast<f32>((268u - exponent) << 23u);
${fragments(TILE)}
${registers(TILE, lanes)}
${corners.join('\n')}
  var k0 = begin;
${fetch}
  while (k0 < end) {
${stash(key, TILE, lanes)}
    workgroupBarrier();
    k0 += ${depth}u;
    if (k0 < end) {
${fetch}
    }
${multiply(key, TILE)}
    workgroupBarrier();
  }
${unscaled(TILE, format)}
${sums
  .map(
    (sum, i) =>
      `  subgroupMatrixStore<row_major>(&${target}, sx * ${TILE.subgroupColumns}u + ${16 * i}u, ${sum}, ${columns}u);`,
  )
  .join('\n')}`;
}
