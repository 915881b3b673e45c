/**
 * The program of tiled products: a workgroup computes a tile of the result from panels of both factors in workgroup
 * memory, each invocation 4 x 4 or 8 x 8 numbers of it in registers.
 */
import type { WebGpuBackend } from '../backend.ts';
import type { GpuBuffer } from '../pool.ts';
import { type Program, program, range, variants } from '../program.ts';
import { equalParts } from '../work.ts';
import { elementType, type OperandForm, readFour } from './operand.ts';

/** A tile of the result, how far its panels reach along K, and the vectors of four results of an invocation each way. */
interface Tile {
  readonly rows: number;
  readonly columns: number;
  readonly depth: number;
  readonly vectors: number;
}

export const TILES = {
  '128 x 128': { rows: 128, columns: 128, depth: 16, vectors: 2 },
  '64 x 64': { rows: 64, columns: 64, depth: 32, vectors: 1 },
  '32 x 32': { rows: 32, columns: 32, depth: 32, vectors: 1 },
  // Few rows or few columns: decoding, and the adapter's own products.
  '32 x 64': { rows: 32, columns: 64, depth: 32, vectors: 1 },
  '16 x 64': { rows: 16, columns: 64, depth: 32, vectors: 1 },
  '64 x 16': { rows: 64, columns: 16, depth: 32, vectors: 1 },
  '64 x 32': { rows: 64, columns: 32, depth: 32, vectors: 1 },
} as const satisfies Readonly<Record<string, Tile>>;

export type TileName = keyof typeof TILES;

/** Workgroups that a large tile needs before it is taken: fewer would leave most of a GPU idle. */
const ENOUGH_GROUPS = 64;

/** The tile for a result of `m` rows and `n` columns, `batch` times; a narrow one isn't wider than the result. */
export function tileFor(m: number, n: number, batch: number): TileName {
  const groups = (edge: number): number => Math.ceil(m / edge) * Math.ceil(n / edge) * batch;
  if (m <= 16) return '16 x 64';
  if (n <= 16) return '64 x 16';
  if (m <= 32) return '32 x 64';
  if (n <= 32) return '64 x 32';
  if (Math.min(m, n) > 64 && groups(128) >= ENOUGH_GROUPS) return '128 x 128';
  return groups(64) >= ENOUGH_GROUPS / 4 ? '64 x 64' : '32 x 32';
}

/** Invocations of a workgroup. */
export const lanesOf = (name: TileName): number => {
  const { rows, columns, vectors }: Tile = TILES[name];
  return (rows / 4 / vectors) * (columns / 4 / vectors);
};

export interface TileKey {
  readonly tile: TileName;
  readonly a: OperandForm;
  readonly b: OperandForm;
  readonly transposeA: boolean;
  readonly transposeB: boolean;
  readonly storeVectors: boolean;
  readonly second: { readonly a: OperandForm; readonly b: OperandForm } | null;
  /** Adds to what the result holds already. */
  readonly accumulate: boolean;
  /** Multiplies by the parameter `scale`, which is otherwise that of the second pair. */
  readonly scaled: boolean;
  /** A workgroup's z is a slice of K, whose sums are a matrix of their own; otherwise it is a matrix of the batch. */
  readonly sliced: boolean;
}

/** One side of the product: where its numbers come from and where they lie in workgroup memory. */
interface Side {
  readonly panel: 'panelA' | 'panelB';
  readonly read: string;
  /** Whether its lines run along K. */
  readonly kLast: boolean;
  /** Vectors of four rows (or columns) of the tile. */
  readonly blocks: number;
  readonly first: string;
  readonly count: string;
}

/**
 * Vectors of a panel lie at `place` ^ this, so that lanes beside each other along K, too, write to different banks; in a
 * narrow panel between fewer places.
 */
const swirl = (blocks: number, depth: number, fourthOfK: string): string =>
  `((${fourthOfK} * ${32 / depth}u) & ${Math.min(blocks, 8) - 1}u)`;

/**
 * Fills the panel from step `k0` on: each lane some pieces of four lines by four steps of K, as vectors of four lines.
 * Lanes beside each other read a line side by side: memory comes in pieces of 32 bytes and more.
 */
function load(
  { panel, read, kLast, blocks, first, count }: Side,
  { depth }: Tile,
  lanes: number,
  inner: string,
): string {
  const all = (blocks * depth) / 4;
  const [i, k] = kLast
    ? [`(piece / ${depth / 4}u) * 4u`, `(piece % ${depth / 4}u) * 4u`]
    : [`(piece % ${blocks}u) * 4u`, `(piece / ${blocks}u) * 4u`];
  const place = (c: number): string =>
    kLast ? `${first} + i + ${c}u, k0 + k, ${count}, ${inner}` : `k0 + k + ${c}u, ${first} + i, ${inner}, ${count}`;
  const vector = (c: number): string =>
    kLast
      ? `vec4(${range(4)
          .map((line) => `v${line}.${'xyzw'[c]}`)
          .join(', ')})`
      : `v${c}`;
  return `    for (var piece = lane; piece < ${all}u; piece += ${lanes}u) {
      let i = ${i};
      let k = ${k};
${range(4)
  .map((c) => `      let v${c} = ${read}(${place(c)});`)
  .join('\n')}
      let at = k * ${blocks}u + ((i / 4u) ^ ${swirl(blocks, depth, '(k / 4u)')});
${range(4)
  .map((c) => `      ${panel}[at + ${c * blocks}u] = ${vector(c)};`)
  .join('\n')}
    }`;
}

/** The loop over K, from `from` to before `to`, for one pair of factors. */
function steps(
  tile: Tile,
  lanes: number,
  sides: readonly [Side, Side],
  inner: string,
  from: string,
  to: string,
  scale: string,
): string {
  const { depth, vectors } = tile;
  const [left, right] = sides;
  const [down, across] = [left.blocks / vectors, right.blocks / vectors];
  const parts = range(vectors);
  const multiply = parts.flatMap((i) =>
    parts.flatMap((j) =>
      ['x', 'y', 'z', 'w'].map(
        (c, r) => `        sum${i}_${j}_${r} = fma(vec4(x${i}.${c}), y${j}, sum${i}_${j}_${r});`,
      ),
    ),
  );
  return `
  for (var k0 = ${from}; k0 < ${to}; k0 += ${depth}u) {
${sides.map((side) => load(side, tile, lanes, inner)).join('\n')}
    workgroupBarrier();
    for (var fourth = 0u; fourth < ${depth / 4}u; fourth++) {
${parts.map((i) => `      let rows${i} = (${down * i}u + ty) ^ ${swirl(left.blocks, depth, 'fourth')};`).join('\n')}
${parts.map((j) => `      let columns${j} = (${across * j}u + tx) ^ ${swirl(right.blocks, depth, 'fourth')};`).join('\n')}
      for (var k = 4u * fourth; k < 4u * fourth + 4u; k++) {
${parts.map((i) => `        let x${i} = panelA[k * ${left.blocks}u + rows${i}]${scale};`).join('\n')}
${parts.map((j) => `        let y${j} = panelB[k * ${right.blocks}u + columns${j}];`).join('\n')}
${multiply.join('\n')}
      }
    }
    workgroupBarrier();
  }`;
}

/** Written out row by row: a loop would index the sums, and a GPU then keeps them in slow memory. */
function store({ rows, columns, vectors }: Tile, { storeVectors, accumulate }: TileKey): string {
  const add = (place: string): string => (accumulate ? `${place} + ` : '');
  const one = (i: number, j: number, r: number): string => `
  {
    let row = row0 + ${(rows / vectors) * i + r}u + 4u * ty;
    let column = column0 + ${(columns / vectors) * j}u + 4u * tx;
    if (row < p.m && column < p.n) {
      let at = outBase + row * p.columns + p.first + column;
${
  storeVectors
    ? `      out[at / 4u] = ${add('out[at / 4u]')}sum${i}_${j}_${r};`
    : `      for (var c = 0u; c < min(4u, p.n - column); c++) { out[at + c] = ${add('out[at + c]')}sum${i}_${j}_${r}[c]; }`
}
    }
  }`;
  return range(vectors)
    .flatMap((i) => range(vectors).flatMap((j) => range(4).map((r) => one(i, j, r))))
    .join('');
}

/**
 * a·b (+ scale·a2·b2), or scale·a·b. Workgroups: tiles across, tiles down, and matrices of a batch or slices of K; those
 * before `skipX`, `skipY` and `skipZ` are left out.
 */
const tiled = variants((key: TileKey): Program => {
  const tile: Tile = TILES[key.tile];
  const { rows, columns, depth, vectors } = tile;
  const lanes = lanesOf(key.tile);
  const across = columns / 4 / vectors;
  const left = {
    panel: 'panelA',
    kLast: !key.transposeA,
    blocks: rows / 4,
    first: 'row0',
    count: 'p.m',
  } as const;
  const right = {
    panel: 'panelB',
    kLast: key.transposeB,
    blocks: columns / 4,
    first: 'column0',
    count: 'p.n',
  } as const;
  const sums = range(vectors).flatMap((i) =>
    range(vectors).flatMap((j) => range(4).map((r) => `  var sum${i}_${j}_${r} = vec4<f32>(0.0);`)),
  );
  const [from, to] = key.sliced ? ['slice * p.slice', 'min(p.k, (slice + 1u) * p.slice)'] : ['0u', 'p.k'];
  const second =
    key.second === null
      ? ''
      : steps(
          tile,
          lanes,
          [
            { ...left, read: 'readA2' },
            { ...right, read: 'readB2' },
          ],
          'p.r',
          '0u',
          'p.r',
          ' * p.scale',
        );
  return program({
    name: `Product ${key.transposeA ? 't' : 'n'}${key.transposeB ? 't' : 'n'}${key.second === null ? '' : ' + low rank'}${key.sliced ? ', sliced' : ''} ${key.tile}`,
    parameters: [
      ...['m', 'n', 'k', 'r', 'strideA', 'strideB', 'scale:f32', 'columns', 'first'],
      ...['skipX', 'skipY', 'skipZ', 'slice'],
    ],
    buffers: {
      a: elementType(key.a),
      b: elementType(key.b),
      ...(key.second && { a2: elementType(key.second.a), b2: elementType(key.second.b) }),
      out: key.storeVectors ? 'rw vec4<f32>' : 'rw f32',
    },
    workgroup: lanes,
    declarations: `
var<private> baseA: u32;
var<private> baseB: u32;
var<workgroup> panelA: array<vec4<f32>, ${(rows / 4) * depth}>;
var<workgroup> panelB: array<vec4<f32>, ${(columns / 4) * depth}>;
${readFour('readA', 'a', key.a, 'baseA')}
${readFour('readB', 'b', key.b, 'baseB')}
${key.second === null ? '' : `${readFour('readA2', 'a2', key.second.a)}\n${readFour('readB2', 'b2', key.second.b)}`}`,
    main: `
  let tx = lane % ${across}u;
  let ty = lane / ${across}u;
  let row0 = (wg.y + p.skipY) * ${rows}u;
  let column0 = (wg.x + p.skipX) * ${columns}u;
${
  key.sliced
    ? `  let slice = wg.z + p.skipZ;
  let outBase = slice * p.m * p.columns;`
    : `  baseA = wg.z * p.strideA;
  baseB = wg.z * p.strideB;
  let outBase = wg.z * p.m * p.columns;`
}
${sums.join('\n')}
${steps(
  tile,
  lanes,
  [
    { ...left, read: 'readA' },
    { ...right, read: 'readB' },
  ],
  'p.k',
  from,
  to,
  key.scaled ? ' * p.scale' : '',
)}
${second === '' ? '' : key.sliced ? `  if (slice == 0u) {${second}\n  }` : second}
${store(tile, key)}`,
  });
});

/** A product's numbers, as its program takes them. */
export interface TileCall {
  /** a, b, a2 and b2 where there are, and the result or the slices' sums. */
  readonly buffers: readonly GpuBuffer[];
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly rank: number;
  readonly batch: number;
  readonly slices: { readonly count: number; readonly length: number };
  /** Numbers of a from one matrix of the batch to the next, and of b. */
  readonly strides: readonly [number, number];
  readonly scale: number;
  /** Of the result or of a slice's sums. */
  readonly columns: number;
  readonly first: number;
}

/** Runs a tiled product, in as many dispatches as its work takes. */
export function runTiles({ gpu }: WebGpuBackend, key: TileKey, call: TileCall): void {
  const { buffers, m, n, k, rank, batch, slices, strides, scale, columns, first } = call;
  const { rows, columns: width } = TILES[key.tile];
  const parameters = [m, n, k, rank, ...strides, scale, columns, first];
  const across = Math.ceil(n / width);
  const down = Math.ceil(m / rows);
  if (key.sliced) {
    const each = 2 * m * n * (slices.length + rank);
    for (const part of equalParts(slices.count, each, gpu.mostWork))
      gpu.run(
        tiled(key),
        buffers,
        [...parameters, 0, 0, part.first, slices.length],
        [across, down, part.count],
        part.work,
      );
    return;
  }
  // Along the side that has more tiles: its parts are the finer ones.
  const wide = across > down;
  const each = 2 * (wide ? width * m : rows * n) * (k + rank) * batch;
  for (const part of equalParts(wide ? across : down, each, gpu.mostWork)) {
    const skip = wide ? [part.first, 0] : [0, part.first];
    const groups = wide ? ([part.count, down, batch] as const) : ([across, part.count, batch] as const);
    gpu.run(tiled(key), buffers, [...parameters, ...skip, 0, 0], groups, part.work);
  }
}
