/** How products on matrix units are cut: what a workgroup and each of its subgroups compute, and in what memory. */
import { isQuantised } from '../../quantised.ts';
import type { MatrixUnit } from '../matrix-units.ts';
import type { UnitsFormat } from './units-weights.ts';

/** Invocations of a workgroup: subgroups of every size fill it. */
export const UNIT_LANES = 128;

/** A workgroup's part of the result, how far its panels reach along K, and the part of each of its subgroups. */
export interface Tile {
  readonly unit: MatrixUnit;
  readonly rows: number;
  readonly columns: number;
  readonly depth: number;
  readonly subgroupRows: number;
  readonly subgroupColumns: number;
  /** Each workgroup finds the largest number of x in its own part; otherwise it was found before. */
  readonly ownScale: boolean;
}

/** How the factors' panels are filled and multiplied. */
export interface Reading {
  readonly format: UnitsFormat;
  readonly transposed: boolean;
  /**
   * On units of float16, factors are rounded to one number each, as a run's compute_dtype of bfloat16 allows: a half of
   * the products.
   */
  readonly rounded: boolean;
}

/** `enough`: workgroups that keep a large GPU busy: K is cut into as many slices as fit into that number of them. */
export const TILES = {
  large: { rows: 64, columns: 128, enough: 512 },
  // Decoding: the weights are the traffic.
  'few rows': { rows: 16, columns: 64, enough: 384 },
} as const;

export type TileName = keyof typeof TILES;

/** Subgroups of a workgroup, down and across the tile, by the invocations of each; eight: Mesa's software driver. */
const SUBGROUPS: Readonly<Record<TileName, ReadonlyMap<number, readonly [down: number, across: number]>>> = {
  large: new Map([
    [8, [4, 4]],
    [16, [2, 4]],
    [32, [2, 2]],
    [64, [1, 2]],
  ]),
  'few rows': new Map([
    [8, [2, 8]],
    [16, [2, 4]],
    [32, [1, 4]],
    [64, [1, 2]],
  ]),
};

export function tileOf(unit: MatrixUnit, name: TileName): Tile {
  const { rows, columns } = TILES[name];
  const [down, across] = SUBGROUPS[name].get(unit.lanes) ?? [1, 1];
  return {
    unit,
    rows,
    columns,
    // Few rows leave room for more; float32 takes twice as much of it.
    depth: name === 'few rows' && unit.element === 'f16' ? 64 : 32,
    subgroupRows: rows / down,
    subgroupColumns: columns / across,
    ownScale: name === 'few rows',
  };
}

/** Of all tiles: K has to be a multiple. */
export const DEPTH = 64;

const NAMES = Object.keys(TILES) as TileName[];

/** Whether every subgroup's part of both tiles is made of whole units. */
export const dividesInto = (unit: MatrixUnit): boolean =>
  NAMES.every((name) => {
    const { depth, subgroupRows, subgroupColumns } = tileOf(unit, name);
    const even = subgroupRows % unit.m === 0 && subgroupColumns % unit.n === 0 && depth % unit.k === 0;
    return even && SUBGROUPS[name].has(unit.lanes);
  });

const bytesOf = ({ element }: MatrixUnit): number => (element === 'f16' ? 2 : 4);

/** Bytes that a panel's lines are longer than they need to be, so that reading eight of them asks all banks. */
const PAD = 16;

/** Vectors of four from one line of a panel to the next. */
export const strideOf = ({ unit }: Tile, numbers: number): number => (numbers + PAD / bytesOf(unit)) / 4;

/** Vectors of four in the panels of x and of the weights. */
export function panelSizes(tile: Tile, transposed: boolean): { readonly x: number; readonly weights: number } {
  const { rows, columns, depth } = tile;
  return {
    x: rows * strideOf(tile, depth),
    weights: transposed ? columns * strideOf(tile, depth) : depth * strideOf(tile, columns),
  };
}

/** Factors are two numbers of the unit's each: x, and weights that aren't float16 or bfloat16. */
export const inTwo = ({ unit }: Tile, { rounded }: Pick<Reading, 'rounded'>): boolean =>
  unit.element === 'f16' && !rounded;

export const weightsInTwo = (tile: Tile, reading: Pick<Reading, 'format' | 'rounded'>): boolean =>
  isQuantised(reading.format) && inTwo(tile, reading);

/** Bytes of workgroup memory that panels, levels and the search for the largest number of x take. */
export function panelMemory(tile: Tile, reading: Reading): number {
  const { x, weights } = panelSizes(tile, reading.transposed);
  const vectors = x * (inTwo(tile, reading) ? 2 : 1) + weights * (weightsInTwo(tile, reading) ? 2 : 1);
  const levels = reading.format === 'nf4' ? 64 : 0;
  const scratch = tile.unit.element === 'f16' ? 4 * UNIT_LANES : 0;
  return 4 * bytesOf(tile.unit) * vectors + levels + scratch;
}

/** The same of a whole product, which puts sums across the result's edge into a place of their own. */
export const productMemory = (tile: Tile, reading: Reading): number =>
  panelMemory(tile, reading) + 4 * tile.unit.m * tile.unit.n;

/** Bytes that products with any 16-bit weights take at most. */
export const plainMemory = (unit: MatrixUnit): number =>
  Math.max(
    ...NAMES.flatMap((name) =>
      [true, false].map((transposed) =>
        productMemory(tileOf(unit, name), { format: 'bf16', transposed, rounded: false }),
      ),
    ),
  );
