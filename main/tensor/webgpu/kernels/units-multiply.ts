/** What the units themselves do: a subgroup's sums, and the panels' products that are added to them. */
import { range } from '../program.ts';
import { inTwo, type Reading, strideOf, type Tile, weightsInTwo } from './units-tile.ts';

/** A unit's sums, and where they lie in the subgroup's part of the tile. */
interface Sum {
  readonly sum: string;
  readonly row: number;
  readonly column: number;
}

const down = ({ subgroupRows, unit }: Tile): number[] => range(subgroupRows / unit.m);
const across = ({ subgroupColumns, unit }: Tile): number[] => range(subgroupColumns / unit.n);

/** The sums of a subgroup. */
export const sumsOf = (tile: Tile): Sum[] =>
  down(tile).flatMap((i) =>
    across(tile).map((j) => ({ sum: `sum${i}_${j}`, row: i * tile.unit.m, column: j * tile.unit.n })),
  );

/** Declares them, all 0. */
export const fragments = (tile: Tile): string =>
  sumsOf(tile)
    .map(({ sum }) => `  var ${sum} = subgroup_matrix_result<f32, ${tile.unit.n}, ${tile.unit.m}>();`)
    .join('\n');

/** Multiplies them all. */
export const scaleSums = (tile: Tile, by: string): string =>
  sumsOf(tile)
    .map(({ sum }) => `  ${sum} = subgroupMatrixScalarMultiply(${sum}, ${by});`)
    .join('\n');

/** The panels' products, added to the sums. */
export function multiply(reading: Reading, tile: Tile): string {
  const { unit, columns, depth, subgroupRows, subgroupColumns } = tile;
  const { element, m, n } = unit;
  const width = strideOf(tile, depth);
  const across4 = strideOf(tile, columns);
  const rightType = `subgroup_matrix_right<${element}, ${n}, ${unit.k}>`;
  const leftType = `subgroup_matrix_left<${element}, ${unit.k}, ${m}>`;
  const right = (panel: string, j: number, k: number): string =>
    reading.transposed
      ? `subgroupMatrixLoad<${rightType}, col_major>(&${panel}, (sx * ${subgroupColumns}u + ${j * n}u) * ${width}u + ${k / 4}u, ${width}u)`
      : `subgroupMatrixLoad<${rightType}, row_major>(&${panel}, ${k * across4}u + sx * ${subgroupColumns / 4}u + ${(j * n) / 4}u, ${across4}u)`;
  const left = (panel: string, i: number, k: number): string =>
    `subgroupMatrixLoad<${leftType}, row_major>(&${panel}, (sy * ${subgroupRows}u + ${i * m}u) * ${width}u + ${k / 4}u, ${width}u)`;
  const pair = (k: number, weights: string, panels: readonly string[]): string => `    {
${across(tile)
  .map((j) => `      let r${j} = ${right(weights, j, k)};`)
  .join('\n')}
${down(tile)
  .flatMap((i) =>
    panels.map(
      (panel) => `      {
        let l = ${left(panel, i, k)};
${across(tile)
  .map((j) => `        sum${i}_${j} = subgroupMatrixMultiplyAccumulate(l, r${j}, sum${i}_${j});`)
  .join('\n')}
      }`,
    ),
  )
  .join('\n')}
    }`;
  return range(depth / unit.k)
    .flatMap((step) => [
      pair(step * unit.k, 'weights', inTwo(tile, reading) ? ['heads', 'rests'] : ['heads']),
      // Both second halves together are beyond what a sum keeps.
      ...(weightsInTwo(tile, reading) ? [pair(step * unit.k, 'weightRests', ['heads'])] : []),
    ])
    .join('\n');
}
