/**
 * The program of products with frozen 16-bit weights on a GPU's matrix units, which multiply 16 x 16 numbers of 16 bits
 * at a time and add in 32. Weights between 8e-6 and 65,504 are exact in float16; x is two float16 numbers, its first eleven bits and the next eleven, scaled
 * so that its largest number is near the top of the range. The units cut sums off where float32 arithmetic rounds them: a
 * result is off by some 10⁻⁵ of itself, ten times as much as float32 sums and a hundredth of what 16-bit factors lose.
 * Weights of 8 and 4 bits are dequantised on their way into the panel, as two numbers, too: up to 4,000 each.
 */
import { isQuantised } from '../../quantised.ts';
import { type Program, program, range, variants } from '../program.ts';
import { findMatrix } from './side-by-side.ts';
import {
  fillLevels,
  fourQuantised,
  HALVES,
  levelsOf,
  QUANTISED_SCALE,
  readEight,
  type UnitsFormat,
  unitsElement,
} from './units-weights.ts';

/** Edge of what a unit multiplies. */
const UNIT = 16;
/** Invocations that share a unit: `hasMatrixUnits` takes no adapter with another number. */
const SUBGROUP = 32;

/** A workgroup's part of the result, how far its panels reach along K, and the part of each of its subgroups. */
interface Tile {
  readonly rows: number;
  readonly columns: number;
  readonly depth: number;
  readonly subgroupRows: number;
  readonly subgroupColumns: number;
  /** Workgroups that keep a large GPU busy: K is cut into as many slices as fit into that number of them. */
  readonly enough: number;
  /** Each workgroup finds the largest number of x in its own part; otherwise it was found before. */
  readonly ownScale: boolean;
}

export const TILES = {
  large: {
    rows: 64,
    columns: 128,
    depth: 32,
    subgroupRows: 32,
    subgroupColumns: 64,
    enough: 512,
    ownScale: false,
  },
  // Decoding: the weights are the traffic.
  'few rows': {
    rows: 16,
    columns: 64,
    depth: 64,
    subgroupRows: 16,
    subgroupColumns: 16,
    enough: 384,
    ownScale: true,
  },
} as const satisfies Readonly<Record<string, Tile>>;

export type TileName = keyof typeof TILES;

/** Lines of a panel are so many numbers longer than they need to be that reading eight of them asks all banks. */
const PAD = 8;

/** How the factors' panels are filled and multiplied. */
interface Reading {
  readonly format: UnitsFormat;
  readonly transposed: boolean;
  /** Factors are rounded to one number of 16 bits each, as a run's compute_dtype of bfloat16 allows: a half of the products. */
  readonly rounded: boolean;
}

export interface UnitsKey extends Reading {
  readonly tile: TileName;
  /** One to three side by side; more than one only as transposes of what is multiplied. */
  readonly matrices: number;
  /** A workgroup's z is a slice of K, whose sums are a matrix of their own. */
  readonly sliced: boolean;
}

const lanesOf = ({ rows, columns, subgroupRows, subgroupColumns }: Tile): number =>
  (rows / subgroupRows) * (columns / subgroupColumns) * SUBGROUP;

/** Vectors that a lane looks at together: one after the other, each would wait for memory. */
const AT_A_TIME = 8;

/** Joins the largest absolute value of x into `most`: of every `lanes`-th vector from i to `last`, which may be read again. */
const joinLargest = (lanes: number): string => `${range(AT_A_TIME)
  .map((n) => `    let v${n} = abs(x[min(i + ${n * lanes}u, last)]);`)
  .join('\n')}
    let all = max(max(max(v0, v1), max(v2, v3)), max(max(v4, v5), max(v6, v7)));
    most = max(most, max(max(all.x, all.y), max(all.z, all.w)));`;

/** Groups of lanes whose largest number of x is found apart. */
export const MAXIMA = 256;

/** x → the largest of its absolute values in each of MAXIMA parts. */
export const maximaProgram = program({
  name: 'Largest of x',
  parameters: ['vectors'],
  buffers: { x: 'vec4<f32>', maxima: 'rw f32' },
  workgroup: MAXIMA,
  declarations: `var<workgroup> largest: array<f32, ${MAXIMA}>;`,
  main: `  var most = 0.0;
  let last = p.vectors - 1u;
  for (var i = group * ${MAXIMA}u + lane; i <= last; i += ${AT_A_TIME * MAXIMA * MAXIMA}u) {
${joinLargest(MAXIMA * MAXIMA)}
  }
  largest[lane] = most;
  workgroupBarrier();
  if (lane == 0u) {
    for (var i = 1u; i < ${MAXIMA}u; i++) { most = max(most, largest[i]); }
    maxima[group] = most;
  }`,
});

/** Statements that leave the largest number of x, of all of it or of the workgroup's part, in `most`. */
export function largest({ rows, ownScale }: Tile, lanes: number, from = '0u'): string {
  // Lanes beside each other read a line side by side; the last vector is read again rather than one beyond it.
  const perRow = lanes / rows;
  const own = `  let row = min(row0 + lane / ${perRow}u, p.m - 1u);
  let last = ${from} + (row * p.k + end) / 4u - 1u;
  for (var i = ${from} + (row * p.k + begin) / 4u + lane % ${perRow}u; i <= last; i += ${AT_A_TIME * perRow}u) {
${joinLargest(perRow)}
  }`;
  const found = `  for (var i = lane; i < ${MAXIMA}u; i += ${lanes}u) { most = max(most, maxima[i]); }`;
  return `  var most = 0.0;
${ownScale ? own : found}
  scratch[lane] = most;
  workgroupBarrier();
  for (var i = 0u; i < ${lanes}u; i++) { most = max(most, scratch[i]); }
  workgroupBarrier();`;
}

/**
 * Where each lane's vectors of both panels lie at the start of K, in vectors of x and of the weights. Beyond the last row
 * or column it is the last one again: those results are never written.
 */
function corners({ transposed }: UnitsKey, { rows, columns, depth }: Tile, lanes: number): string {
  const x = range((rows * depth) / 4 / lanes).map((i) => {
    const at = `(lane + ${i * lanes}u)`;
    return `  let xAt${i} = min(row0 + ${at} / ${depth / 4}u, p.m - 1u) * (p.k / 4u) + ${at} % ${depth / 4}u;`;
  });
  const w = range((columns * depth) / 8 / lanes).map((i) => {
    const at = `(lane + ${i * lanes}u)`;
    const place = transposed
      ? `min(column0 + ${at} / ${depth / 8}u, n - 1u) * (p.k / 8u) + ${at} % ${depth / 8}u`
      : `${at} / ${columns / 8}u * (n / 8u) + min(column0 / 8u + ${at} % ${columns / 8}u, n / 8u - 1u)`;
    return `  let wAt${i} = ${place};`;
  });
  return [...x, ...w].join('\n');
}

/** Registers that a lane reads both panels into. */
export const registers = ({ rows, columns, depth }: Tile, lanes: number): string =>
  [
    ...range((rows * depth) / 4 / lanes).map((i) => `  var x${i}: vec4<f32>;`),
    ...range((columns * depth) / 8 / lanes).map((i) => `  var w${i}: vec4<u32>;`),
  ].join('\n');

/** Reads the panels' next numbers into registers, as they are: to convert them would be to wait for them. */
function fetch({ transposed }: UnitsKey, { rows, columns, depth }: Tile, lanes: number): string {
  const x = range((rows * depth) / 4 / lanes).map((i) => `    x${i} = x[xAt${i} + k0 / 4u];`);
  const w = range((columns * depth) / 8 / lanes).map(
    (i) => `    w${i} = readW(wAt${i} + ${transposed ? 'k0 / 8u' : 'k0 * (n / 8u)'});`,
  );
  return [...x, ...w].join('\n');
}

/** Numbers in two parts of eleven bits each, in these panels. */
const inTwo = (x: string, at: string, heads: string, rests: string): string => `
      // Cut off by its bits: a compiler may take a conversion to float16 and back for nothing.
      let head = bitcast<vec4<f32>>(bitcast<vec4<u32>>(${x}) & vec4(0xffffe000u));
      ${heads}[${at}] = vec4<f16>(head);
      ${rests}[${at}] = vec4<f16>(${x} - head);`;

/** Numbers to eleven bits, in the first of these panels. */
const inOne = (x: string, at: string, heads: string): string => `
      ${heads}[${at}] = vec4<f16>(${x});`;

/** Writes the registers into the panels, x as two numbers or one, and quantised weights. */
export function stash({ format, transposed, rounded }: Reading, { rows, columns, depth }: Tile, lanes: number): string {
  const width = (depth + PAD) / 4;
  const split = rounded ? inOne : inTwo;
  const x = range((rows * depth) / 4 / lanes).map((i) => {
    const at = `(lane + ${i * lanes}u)`;
    return `    {
      let at = ${at} / ${depth / 4}u * ${width}u + ${at} % ${depth / 4}u;
      let scaled = x${i} * scale;${split('scaled', 'at', 'heads', 'rests')}
    }`;
  });
  const [perLine, line] = transposed ? [depth / 8, width] : [columns / 8, (columns + PAD) / 4];
  const w = range((columns * depth) / 8 / lanes).map((i) => {
    const at = `(lane + ${i * lanes}u)`;
    const place = `let at = ${at} / ${perLine}u * ${line}u + ${at} % ${perLine}u * 2u;`;
    if (isQuantised(format))
      return `    {
      ${place}
      let size = ${QUANTISED_SCALE}.0 * bitcast<f32>(w${i}.z);
${[0, 1]
  .map(
    (half) => `      {
      let four = size * ${fourQuantised(format, `w${i}`, half)};${split('four', `at + ${half}u`, 'weights', 'weightRests')}
      }`,
  )
  .join('\n')}
    }`;
    const [even, odd] = HALVES[format].map((half) => half.replaceAll('WORDS', `w${i}`));
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

const LEFT = `subgroup_matrix_left<f16, ${UNIT}, ${UNIT}>`;
const RIGHT = `subgroup_matrix_right<f16, ${UNIT}, ${UNIT}>`;
const RESULT = `subgroup_matrix_result<f32, ${UNIT}, ${UNIT}>`;

/** The panels' products, added to the sums. */
export function multiply({ format, transposed, rounded }: Reading, tile: Tile): string {
  const { columns, depth, subgroupRows, subgroupColumns } = tile;
  const [down, across] = [range(subgroupRows / UNIT), range(subgroupColumns / UNIT)];
  const width = (depth + PAD) / 4;
  const across4 = (columns + PAD) / 4;
  const right = (panel: string, j: number, k: number): string =>
    transposed
      ? `subgroupMatrixLoad<${RIGHT}, col_major>(&${panel}, (sx * ${subgroupColumns}u + ${j * UNIT}u) * ${width}u + ${k / 4}u, ${width}u)`
      : `subgroupMatrixLoad<${RIGHT}, row_major>(&${panel}, ${k * across4}u + sx * ${subgroupColumns / 4}u + ${(j * UNIT) / 4}u, ${across4}u)`;
  const left = (panel: string, i: number, k: number): string =>
    `subgroupMatrixLoad<${LEFT}, row_major>(&${panel}, (sy * ${subgroupRows}u + ${i * UNIT}u) * ${width}u + ${k / 4}u, ${width}u)`;
  const pair = (k: number, weights: string, panels: readonly string[]): string => `    {
${across.map((j) => `      let r${j} = ${right(weights, j, k)};`).join('\n')}
${down
  .flatMap((i) =>
    panels.map(
      (panel) => `      {
        let l = ${left(panel, i, k)};
${across.map((j) => `        sum${i}_${j} = subgroupMatrixMultiplyAccumulate(l, r${j}, sum${i}_${j});`).join('\n')}
      }`,
    ),
  )
  .join('\n')}
    }`;
  return range(depth / UNIT)
    .flatMap((unit) => [
      pair(unit * UNIT, 'weights', rounded ? ['heads'] : ['heads', 'rests']),
      // Both second halves together are beyond what a sum keeps.
      ...(isQuantised(format) && !rounded ? [pair(unit * UNIT, 'weightRests', ['heads'])] : []),
    ])
    .join('\n');
}

const AREA = UNIT * UNIT;

/** Writes the sums: whole units at once, those across the result's edge number by number. */
function store(tile: Tile, format: UnitsFormat): string {
  const { rows, columns, subgroupRows, subgroupColumns } = tile;
  const [down, across] = [range(subgroupRows / UNIT), range(subgroupColumns / UNIT)];
  const all = down.flatMap((i) =>
    across.map((j) => ({
      sum: `sum${i}_${j}`,
      row: `row0 + sy * ${subgroupRows}u + ${i * UNIT}u`,
      column: `column0 + sx * ${subgroupColumns}u + ${j * UNIT}u`,
    })),
  );
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
      }) => `      if (subgroup == turn) { subgroupMatrixStore<row_major>(&edge, 0u, ${sum}, ${UNIT}u); }
      workgroupBarrier();
      if (subgroup == turn) {
        for (var id = lane % ${SUBGROUP}u; id < ${AREA}u; id += ${SUBGROUP}u) {
          let row = ${row} + id / ${UNIT}u;
          let column = ${column} + id % ${UNIT}u;
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
    for (var turn = 0u; turn < ${lanesOf(tile) / SUBGROUP}u; turn++) {
${apart}
    }
  }`;
}

/** Statements that take the factors' scales off the sums. */
export const unscaled = (tile: Tile, format: UnitsFormat): string =>
  sumsOf(tile)
    .map(
      (sum) =>
        `  ${sum} = subgroupMatrixScalarMultiply(${sum}, ${isQuantised(format) ? 1 / QUANTISED_SCALE : '1.0'} / scale);`,
    )
    .join('\n');

/** Declares the panels in workgroup memory. */
export function panels({ rows, columns, depth }: Tile, { format, transposed, rounded }: Reading): string {
  const width = (depth + PAD) / 4;
  const weights = transposed ? columns * width : (depth * (columns + PAD)) / 4;
  return `var<workgroup> heads: array<vec4<f16>, ${rows * width}>;
${rounded ? '' : `var<workgroup> rests: array<vec4<f16>, ${rows * width}>;`}
var<workgroup> weights: array<vec4<f16>, ${weights}>;
${isQuantised(format) && !rounded ? `var<workgroup> weightRests: array<vec4<f16>, ${weights}>;` : ''}
${levelsOf(format)}`;
}

/** The sums of a subgroup. */
export const sumsOf = ({ subgroupRows, subgroupColumns }: Tile): string[] =>
  range(subgroupRows / UNIT).flatMap((i) => range(subgroupColumns / UNIT).map((j) => `sum${i}_${j}`));

export const fragments = (tile: Tile): string =>
  sumsOf(tile)
    .map((sum) => `  var ${sum} = ${RESULT}();`)
    .join('\n');

export const UNITS_DIRECTIVES = [
  ...['enable f16', 'enable subgroups', 'enable chromium_experimental_subgroup_matrix'],
  // What the compiler can't prove: a subgroup's lanes have the same number among the subgroups.
  'diagnostic(off, chromium.subgroup_matrix_uniformity)',
];

export const unitsProgram = variants((key: UnitsKey): Program => {
  const tile: Tile = TILES[key.tile];
  const { rows, columns, depth, subgroupColumns } = tile;
  const lanes = lanesOf(tile);
  return program({
    name: `Product n${key.transposed ? 't' : 'n'}${key.matrices === 1 ? '' : ` x ${key.matrices}`} by units${key.rounded ? ', rounded' : ''}, ${key.tile}${key.sliced ? ', sliced' : ''}`,
    directives: UNITS_DIRECTIVES,
    parameters: ['m', 'n0', 'n1', 'n2', 'k', 'columns', 'first', 'skip', 'slice', 'band'],
    buffers: {
      x: 'vec4<f32>',
      ...Object.fromEntries(range(key.matrices).map((i) => [`b${i}`, unitsElement(key.format)])),
      ...(!tile.ownScale && { maxima: 'f32' }),
      out: 'rw f32',
    },
    workgroup: lanes,
    declarations: `
${panels(tile, key)}
var<workgroup> edge: array<f32, ${AREA}>;
var<workgroup> scratch: array<f32, ${lanes}>;
${readEight(key.format, key.matrices)}`,
    main: `
  let subgroup = lane / ${SUBGROUP}u;
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
${fillLevels(key.format)}
${largest(tile, lanes)}
  // A power of two that brings the largest number to 2^14 … 2^15.
  let exponent = clamp(bitcast<u32>(most) >> 23u, 15u, 254u);
  let scale = bitcast<f32>((268u - exponent) << 23u);
${fragments(tile)}
${registers(tile, lanes)}
${corners(key, tile, lanes)}
  var k0 = begin;
${fetch(key, tile, lanes)}
  while (k0 < end) {
${stash(key, tile, lanes)}
    workgroupBarrier();
    k0 += ${depth}u;
    if (k0 < end) {
${fetch(key, tile, lanes)}
    }
${multiply(key, tile)}
    workgroupBarrier();
  }
${store(tile, key.format)}`,
  });
});
