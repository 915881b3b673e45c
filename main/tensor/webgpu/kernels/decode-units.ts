/** The tile of a decoding product on matrix units: the program of product-units.ts for few rows, up to its sums. */
import type { MatrixUnit } from '../matrix-units.ts';
import { fragments, multiply, sumsOf } from './units-multiply.ts';
import { panels, placeOf, registers, stash, vectorsOfWeights, vectorsOfX } from './units-panels.ts';
import { prepare, scratchOf, unscaled } from './units-scale.ts';
import { panelMemory, type Reading, type Tile, tileOf } from './units-tile.ts';
import { readEight, type UnitsFormat } from './units-weights.ts';

/** How the factors are read, and by what. */
export interface UnitsReading {
  readonly unit: MatrixUnit;
  readonly format: UnitsFormat;
  readonly rounded: boolean;
}

const readingOf = ({ format, rounded }: UnitsReading): Reading => ({ format, rounded, transposed: true });

/** Bytes of workgroup memory that these declarations take. */
export const unitsMemory = (key: UnitsReading): number => panelMemory(tileOf(key.unit, 'few rows'), readingOf(key));

export function unitsDeclarations(key: UnitsReading, matrices: number): string {
  const tile = tileOf(key.unit, 'few rows');
  return `
${panels(tile, readingOf(key))}
${scratchOf(tile)}
${readEight(key.format, matrices)}`;
}

/** Which part of the tile is the subgroup's. */
function findPart({ unit, rows, columns, subgroupRows, subgroupColumns }: Tile): string {
  const across = columns / subgroupColumns;
  if (rows === subgroupRows)
    return `  let sx = lane / ${unit.lanes}u;
  let sy = 0u;`;
  return `  let sx = lane / ${unit.lanes}u % ${across}u;
  let sy = lane / ${unit.lanes * across}u;`;
}

/**
 * Statements that leave x·wᵀ from `begin` to `end` of K in `target`. `lineOf` gives a column's matrix and line of it.
 */
export function unitsStatements(
  units: UnitsReading,
  lineOf: (column: string) => readonly [part: string, line: string],
  target: string,
): string {
  const tile = tileOf(units.unit, 'few rows');
  const { depth, columns, subgroupRows, subgroupColumns } = tile;
  const key = readingOf(units);
  const vectors = depth / 4;
  const corners = [
    ...vectorsOfX(tile).map((i) => {
      const at = placeOf(i);
      return `  let xAt${i} = p.rowsAt + min(row0 + ${at} / ${vectors}u, p.m - 1u) * (p.k / 4u) + ${at} % ${vectors}u;`;
    }),
    ...vectorsOfWeights(tile).map((i) => {
      const at = placeOf(i);
      const [part, line] = lineOf(`(${at} / ${depth / 8}u)`);
      return `  let wPart${i} = ${part};\n  let wAt${i} = ${line} * (p.k / 8u) + ${at} % ${depth / 8}u;`;
    }),
  ];
  const fetch = [
    ...vectorsOfX(tile).map((i) => `    x${i} = x[xAt${i} + k0 / 4u];`),
    ...vectorsOfWeights(tile).map((i) => `    part = wPart${i};\n    w${i} = readW(wAt${i} + k0 / 8u);`),
  ].join('\n');
  const rowOf = (row: number): string =>
    row === 0 && subgroupRows === tile.rows ? '' : `(sy * ${subgroupRows}u + ${row}u) * ${columns}u + `;
  return `
${findPart(tile)}
${prepare(tile, key.format, 'p.rowsAt')}
${fragments(tile)}
${registers(tile)}
${corners.join('\n')}
  var k0 = begin;
${fetch}
  while (k0 < end) {
${stash(key, tile)}
    workgroupBarrier();
    k0 += ${depth}u;
    if (k0 < end) {
${fetch}
    }
${multiply(key, tile)}
    workgroupBarrier();
  }
${unscaled(tile, key.format)}
${sumsOf(tile)
  .map(
    ({ sum, row, column }) =>
      `  subgroupMatrixStore<row_major>(&${target}, ${rowOf(row)}sx * ${subgroupColumns}u + ${column}u, ${sum}, ${columns}u);`,
  )
  .join('\n')}`;
}
