/**
 * The program of products with frozen weights of 16 bits and fewer on a GPU's matrix units, which multiply small matrices
 * at once and add in float32.
 *
 * On units of float16, weights between 8e-6 and 65,504 are exact; x is two float16 numbers, its first eleven bits and the
 * next eleven, scaled so that its largest number is near the top of the range. The units cut sums off where float32
 * arithmetic rounds them: a result is off by some 10⁻⁵ of itself, ten times as much as float32 sums and a hundredth of what
 * 16-bit factors lose. Weights of 8 and 4 bits are dequantised on their way into the panel, as two numbers, too: up to
 * 4,000 each. On units of float32 both factors are what they are.
 */
import type { MatrixUnit } from '../matrix-units.ts';
import { type Program, program, range, variants } from '../program.ts';
import { elementType } from './operand.ts';
import { findMatrix } from './side-by-side.ts';
import { type LowRank, lowRank, lowRankReads } from './units-low-rank.ts';
import { fragments, multiply, sumsOf } from './units-multiply.ts';
import { panels, placeOf, registers, stash, vectorsOfWeights, vectorsOfX } from './units-panels.ts';
import { needsMaxima, prepare, scratchOf, unscaled } from './units-scale.ts';
import { type Reading, type Tile, type TileName, tileOf, UNIT_LANES } from './units-tile.ts';
import { readEight, type UnitsFormat, unitsElement } from './units-weights.ts';

export interface UnitsKey extends Reading {
  readonly unit: MatrixUnit;
  readonly tile: TileName;
  /** One to three side by side; more than one only as transposes of what is multiplied. */
  readonly matrices: number;
  /** Of one matrix. */
  readonly second: LowRank | null;
  /** A workgroup's z is a slice of K, whose sums are a matrix of their own. */
  readonly sliced: boolean;
}

/**
 * Where each lane's vectors of both panels lie at the start of K, in vectors of x and of the weights. Beyond the last row
 * or column it is the last one again: those results are never written.
 */
function corners({ transposed }: UnitsKey, tile: Tile): string {
  const { columns, depth } = tile;
  const x = vectorsOfX(tile).map((i) => {
    const at = placeOf(i);
    return `  let xAt${i} = min(row0 + ${at} / ${depth / 4}u, p.m - 1u) * (p.k / 4u) + ${at} % ${depth / 4}u;`;
  });
  const w = vectorsOfWeights(tile).map((i) => {
    const at = placeOf(i);
    const place = transposed
      ? `min(column0 + ${at} / ${depth / 8}u, n - 1u) * (p.k / 8u) + ${at} % ${depth / 8}u`
      : `${at} / ${columns / 8}u * (n / 8u) + min(column0 / 8u + ${at} % ${columns / 8}u, n / 8u - 1u)`;
    return `  let wAt${i} = ${place};`;
  });
  return [...x, ...w].join('\n');
}

/** Reads the panels' next numbers into registers, as they are: to convert them would be to wait for them. */
function fetch({ transposed }: UnitsKey, tile: Tile): string {
  const x = vectorsOfX(tile).map((i) => `    x${i} = x[xAt${i} + k0 / 4u];`);
  const w = vectorsOfWeights(tile).map(
    (i) => `    w${i} = readW(wAt${i} + ${transposed ? 'k0 / 8u' : 'k0 * (n / 8u)'});`,
  );
  return [...x, ...w].join('\n');
}

/** Writes the sums: whole units at once, those across the result's edge number by number. */
function store(tile: Tile, format: UnitsFormat): string {
  const { rows, columns, subgroupRows, subgroupColumns } = tile;
  const { m, n, lanes } = tile.unit;
  const all = sumsOf(tile).map(({ sum, row, column }) => ({
    sum,
    row: `row0 + sy * ${subgroupRows}u + ${row}u`,
    column: `column0 + sx * ${subgroupColumns}u + ${column}u`,
  }));
  const place = (row: string, column: string): string =>
    `outBase + (${row}) * p.columns + p.first + before + ${column}`;
  const whole = all
    .map(
      ({ sum, row, column }) => `    subgroupMatrixStore<row_major>(&out, ${place(row, column)}, ${sum}, p.columns);`,
    )
    .join('\n');
  // One subgroup after the other: a place for each would take memory in which another workgroup could be at work.
  const apart = all
    .map(
      ({
        sum,
        row,
        column,
      }) => `      if (subgroup == turn) { subgroupMatrixStore<row_major>(&edge, 0u, ${sum}, ${n}u); }
      workgroupBarrier();
      if (subgroup == turn) {
        for (var id = lane % ${lanes}u; id < ${m * n}u; id += ${lanes}u) {
          let row = ${row} + id / ${n}u;
          let column = ${column} + id % ${n}u;
          if (row < p.m && column < n) { out[${place('row', 'column')}] = edge[id]; }
        }
      }
      workgroupBarrier();`,
    )
    .join('\n');
  return `${unscaled(tile, format)}
  if (row0 + ${rows}u <= p.m && column0 + ${columns}u <= n) {
${whole}
  } else {
    for (var turn = 0u; turn < ${UNIT_LANES / lanes}u; turn++) {
${apart}
    }
  }`;
}

/** What stands before a program for the unit, and the subgroups that it asks for. */
export const unitDirectives = ({ element, sized }: MatrixUnit): string[] => [
  ...(element === 'f16' ? ['enable f16'] : []),
  ...['enable subgroups', 'enable chromium_experimental_subgroup_matrix'],
  ...(sized ? ['enable subgroup_size_control'] : []),
  // What the compiler can't prove: a subgroup's lanes have the same number among the subgroups.
  'diagnostic(off, chromium.subgroup_matrix_uniformity)',
];

export const unitsProgram = variants((key: UnitsKey): Program => {
  const { unit } = key;
  const tile = tileOf(unit, key.tile);
  const { rows, columns, depth, subgroupColumns } = tile;
  const second = key.second === null ? '' : lowRank(key, tile);
  return program({
    name: `Product n${key.transposed ? 't' : 'n'}${key.matrices === 1 ? '' : ` x ${key.matrices}`}${key.second === null ? '' : ' + low rank'} by units${key.rounded ? ', rounded' : ''}, ${key.tile}${key.sliced ? ', sliced' : ''}`,
    directives: unitDirectives(unit),
    ...(unit.sized && { subgroup: unit.lanes }),
    parameters: ['m', 'n0', 'n1', 'n2', 'k', 'columns', 'first', 'skip', 'slice', 'band', 'r', 'scale:f32'],
    buffers: {
      x: 'vec4<f32>',
      ...Object.fromEntries(range(key.matrices).map((i) => [`b${i}`, unitsElement(key.format)])),
      ...(key.second && { a2: elementType(key.second.a), b2: elementType(key.second.b) }),
      ...(needsMaxima(tile) && { maxima: 'f32' }),
      out: 'rw f32',
    },
    workgroup: UNIT_LANES,
    declarations: `
${panels(tile, key)}
var<workgroup> edge: array<f32, ${unit.m * unit.n}>;
${scratchOf(tile)}
${key.second === null ? '' : lowRankReads(key.second)}
${readEight(key.format, key.matrices)}`,
    main: `
  let subgroup = lane / ${unit.lanes}u;
  let sx = subgroup % ${columns / subgroupColumns}u;
  let sy = subgroup / ${columns / subgroupColumns}u;
  let bands = (p.m + p.band * ${rows}u - 1u) / (p.band * ${rows}u);
  let row0 = (wg.z % bands * p.band + wg.x) * ${rows}u;
  if (row0 >= p.m) { return; }
${findMatrix(key.matrices, columns, 'wg.y + p.skip')}
  part = matrix;
  let column0 = tile * ${columns}u;
  let slice = wg.z / bands;
  let outBase = ${key.sliced ? 'slice * p.m * p.columns' : '0u'};
  let begin = slice * p.slice;
  let end = min(p.k, begin + p.slice);
${prepare(tile, key.format)}
${fragments(tile)}
${second !== '' && key.sliced ? `  if (slice == 0u) {\n${second}\n  }` : second}
${registers(tile)}
${corners(key, tile)}
  var k0 = begin;
${fetch(key, tile)}
  while (k0 < end) {
${stash(key, tile)}
    workgroupBarrier();
    k0 += ${depth}u;
    if (k0 < end) {
${fetch(key, tile)}
    }
${multiply(key, tile)}
    workgroupBarrier();
  }
${store(tile, key.format)}`,
  });
});
