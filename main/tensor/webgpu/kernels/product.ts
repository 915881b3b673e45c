/**
 * Matrix products. Large ones work on tiles in workgroup memory, each invocation on 4x4 or 8x8 results in registers;
 * products of few rows read the weights once, each lane a part of a line (product-rows.ts).
 */
import type { WebGpuBackend } from '../backend.ts';
import { groupsFor } from '../kernel.ts';
import type { GpuBuffer } from '../pool.ts';
import { type Program, program, variants } from '../program.ts';
import { equalParts } from '../work.ts';
import { formOf, type Matrix, type Second } from './matrix.ts';
import { elementType, type OperandForm, readFour } from './operand.ts';
import { rowsProduct, takesRows } from './product-rows.ts';

type Edge = 32 | 64 | 128;

interface Key {
  readonly a: OperandForm;
  readonly b: OperandForm;
  readonly transposeA: boolean;
  readonly transposeB: boolean;
  /** Rows and columns of a workgroup's tile. */
  readonly edge: Edge;
  readonly storeVectors: boolean;
  readonly second: { readonly a: OperandForm; readonly b: OperandForm } | null;
  /** Adds to what the result holds already. */
  readonly accumulate: boolean;
  /** Multiplies by the parameter `scale`, which is otherwise that of the second pair. */
  readonly scaled: boolean;
}

/** How far a tile reaches along K, its invocations, and the vectors of four results that one has in each direction. */
const TILES: Readonly<Record<Edge, { readonly depth: number; readonly lanes: number; readonly vectors: number }>> = {
  32: { depth: 32, lanes: 64, vectors: 1 },
  64: { depth: 32, lanes: 256, vectors: 1 },
  128: { depth: 16, lanes: 256, vectors: 2 },
};

/** Workgroups that a large tile needs before it is taken: fewer would leave most of a GPU idle. */
const ENOUGH_GROUPS = 64;

function edgeFor(m: number, n: number, batch: number): Edge {
  const groups = (edge: number): number => Math.ceil(m / edge) * Math.ceil(n / edge) * batch;
  if (groups(128) >= ENOUGH_GROUPS) return 128;
  return groups(64) >= ENOUGH_GROUPS / 4 ? 64 : 32;
}

/** Vectors of a panel lie at `place` ^ this, so that lanes beside each other along K, too, write to different banks. */
const swirl = (edge: Edge, fourthOfK: string): string => `(${fourthOfK} * ${32 / TILES[edge].depth}u)`;

/** Statements that fill a panel of `edge` rows (or columns) and `depth` steps of K. */
function loadPanel(
  panel: string,
  read: string,
  kLast: boolean,
  edge: Edge,
  first: string,
  count: string,
  inner: string,
): string {
  const blocks = edge / 4;
  const steps = TILES[edge].depth / 4;
  if (!kLast)
    // Lines run along K's other side: four steps of K are four vectors as they lie.
    return `  let i = (block % ${blocks}u) * 4u;
  let k = (block / ${blocks}u) * 4u;
  let place = (i / 4u) ^ ${swirl(edge, '(k / 4u)')};
  for (var c = 0u; c < 4u; c++) {
    ${panel}[(k + c) * ${blocks}u + place] = ${read}(k0 + k + c, ${first} + i, ${inner}, ${count});
  }`;
  // Lanes beside each other read a line side by side: memory comes in pieces of 32 bytes and more.
  return `  let i = (block / ${steps}u) * 4u;
  let k = (block % ${steps}u) * 4u;
  let v0 = ${read}(${first} + i, k0 + k, ${count}, ${inner});
  let v1 = ${read}(${first} + i + 1u, k0 + k, ${count}, ${inner});
  let v2 = ${read}(${first} + i + 2u, k0 + k, ${count}, ${inner});
  let v3 = ${read}(${first} + i + 3u, k0 + k, ${count}, ${inner});
  let at = k * ${blocks}u + ((i / 4u) ^ ${swirl(edge, '(k / 4u)')});
  ${panel}[at] = vec4(v0.x, v1.x, v2.x, v3.x);
  ${panel}[at + ${blocks}u] = vec4(v0.y, v1.y, v2.y, v3.y);
  ${panel}[at + ${2 * blocks}u] = vec4(v0.z, v1.z, v2.z, v3.z);
  ${panel}[at + ${3 * blocks}u] = vec4(v0.w, v1.w, v2.w, v3.w);`;
}

/** The loop over K for one pair of factors. */
function steps(key: Key, readA: string, readB: string, inner: string, scale: string): string {
  const { edge } = key;
  const { depth, lanes, vectors } = TILES[edge];
  const blocks = edge / 4;
  const side = blocks / vectors;
  const parts = Array.from({ length: vectors }, (_, i) => i);
  const multiply = parts.flatMap((i) =>
    parts.flatMap((j) =>
      ['x', 'y', 'z', 'w'].map((c, r) => `      sum${i}_${j}_${r} = fma(vec4(a${i}.${c}), b${j}, sum${i}_${j}_${r});`),
    ),
  );
  const loads = (blocks * depth) / 4;
  return `
  for (var k0 = 0u; k0 < ${inner}; k0 += ${depth}u) {
    for (var load = lane; load < ${2 * loads}u; load += ${lanes}u) {
      let block = load % ${loads}u;
      if (load < ${loads}u) {
${loadPanel('panelA', readA, !key.transposeA, edge, 'row0', 'p.m', inner)}
      } else {
${loadPanel('panelB', readB, key.transposeB, edge, 'column0', 'p.n', inner)}
      }
    }
    workgroupBarrier();
    for (var fourth = 0u; fourth < ${depth / 4}u; fourth++) {
      let turn = ${swirl(key.edge, 'fourth')};
${parts.map((i) => `      let rows${i} = (${side * i}u + ty) ^ turn;\n      let columns${i} = (${side * i}u + tx) ^ turn;`).join('\n')}
      for (var k = 4u * fourth; k < 4u * fourth + 4u; k++) {
${parts.map((i) => `      let a${i} = panelA[k * ${blocks}u + rows${i}]${scale};`).join('\n')}
${parts.map((j) => `      let b${j} = panelB[k * ${blocks}u + columns${j}];`).join('\n')}
${multiply.join('\n')}
      }
    }
    workgroupBarrier();
  }`;
}

/** Written out row by row: a loop would index the sums, and a GPU then keeps them in slow memory. */
function store({ edge, storeVectors, accumulate }: Key): string {
  const { vectors } = TILES[edge];
  const parts = Array.from({ length: vectors }, (_, i) => i);
  const side = edge / vectors;
  const add = (place: string): string => (accumulate ? `${place} + ` : '');
  const one = (i: number, j: number, r: number): string => `
  {
    let row = row0 + ${side * i + r}u + 4u * ty;
    let column = column0 + ${side * j}u + 4u * tx;
    if (row < p.m && column < p.n) {
      let at = outBase + row * p.columns + p.first + column;
${
  storeVectors
    ? `      out[at / 4u] = ${add('out[at / 4u]')}sum${i}_${j}_${r};`
    : `      for (var c = 0u; c < min(4u, p.n - column); c++) { out[at + c] = ${add('out[at + c]')}sum${i}_${j}_${r}[c]; }`
}
    }
  }`;
  return parts.flatMap((i) => parts.flatMap((j) => [0, 1, 2, 3].map((r) => one(i, j, r)))).join('');
}

const tiled = variants((key: Key): Program => {
  const { edge } = key;
  const { depth, lanes, vectors } = TILES[edge];
  const side = edge / 4 / vectors;
  const parts = Array.from({ length: vectors }, (_, i) => i);
  const sums = parts.flatMap((i) =>
    parts.flatMap((j) => [0, 1, 2, 3].map((r) => `  var sum${i}_${j}_${r} = vec4<f32>(0.0);`)),
  );
  return program({
    name: `Product ${key.transposeA ? 't' : 'n'}${key.transposeB ? 't' : 'n'}${key.second === null ? '' : ' + low rank'}`,
    parameters: ['m', 'n', 'k', 'r', 'strideA', 'strideB', 'scale:f32', 'columns', 'first', 'skipX', 'skipY'],
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
var<workgroup> panelA: array<vec4<f32>, ${(edge / 4) * depth}>;
var<workgroup> panelB: array<vec4<f32>, ${(edge / 4) * depth}>;
${readFour('readA', 'a', key.a, 'baseA')}
${readFour('readB', 'b', key.b, 'baseB')}
${key.second === null ? '' : `${readFour('readA2', 'a2', key.second.a)}\n${readFour('readB2', 'b2', key.second.b)}`}`,
    main: `
  let tx = lane % ${side}u;
  let ty = lane / ${side}u;
  let row0 = (wg.y + p.skipY) * ${edge}u;
  let column0 = (wg.x + p.skipX) * ${edge}u;
  baseA = wg.z * p.strideA;
  baseB = wg.z * p.strideB;
  let outBase = wg.z * p.m * p.n;
${sums.join('\n')}
${steps(key, 'readA', 'readB', 'p.k', key.scaled ? ' * p.scale' : '')}
${key.second === null ? '' : steps(key, 'readA2', 'readB2', 'p.r', ' * p.scale')}
${store(key)}`,
  });
});

export interface ProductOptions {
  readonly second?: Second;
  readonly accumulate?: boolean;
  readonly batch?: number;
  /** Where the result is a part of a wider one: that one's columns, and the part's first. */
  readonly place?: { readonly columns: number; readonly first: number };
  /** A factor of a·b; not together with `second`, which has its own. */
  readonly scale?: number;
}

/** a·b (+ scale·a2·b2), or scale·a·b, into `out` [batch, m, n]. */
export function product(
  backend: WebGpuBackend,
  a: Matrix,
  b: Matrix,
  out: GpuBuffer,
  options: ProductOptions = {},
): void {
  if (b.parts !== undefined) {
    productOfParts(backend, a, b, b.parts, out, options);
    return;
  }
  const { second, accumulate = false, batch = 1, scale, place } = options;
  const [m, k] = a.transposed ? [a.length, a.lines] : [a.lines, a.length];
  const n = b.transposed ? b.lines : b.length;
  if (scale === undefined && takesRows(a, b, batch, accumulate)) {
    rowsProduct(backend, a, b, out, second, place);
    return;
  }
  const { columns, first } = place ?? { columns: n, first: 0 };
  const key: Key = {
    a: formOf(a),
    b: formOf(b),
    transposeA: a.transposed,
    transposeB: b.transposed,
    edge: edgeFor(m, n, batch),
    storeVectors: n % 4 === 0 && columns % 4 === 0 && first % 4 === 0,
    second: second === undefined ? null : { a: formOf(second.a), b: formOf(second.b) },
    accumulate,
    scaled: scale !== undefined,
  };
  const { edge } = key;
  const rank = second === undefined ? 0 : second.a.transposed ? second.a.lines : second.a.length;
  const buffers = [a.buffer, b.buffer, ...(second === undefined ? [] : [second.a.buffer, second.b.buffer]), out];
  const strides = [a.batchStride ?? 0, b.batchStride ?? 0];
  const parameters = [m, n, k, rank, ...strides, second?.scale ?? scale ?? 1, columns, first];
  const [across, down] = [Math.ceil(n / edge), Math.ceil(m / edge)];
  // Along the side that has more tiles: its parts are the finer ones.
  const wide = across > down;
  const each = 2 * edge * (wide ? m : n) * (k + rank) * batch;
  for (const part of equalParts(wide ? across : down, each, backend.gpu.mostWork)) {
    const skip = wide ? [part.first, 0] : [0, part.first];
    const groups = wide ? ([part.count, down, batch] as const) : ([across, part.count, batch] as const);
    backend.gpu.run(tiled(key), buffers, [...parameters, ...skip], groups, part.work);
  }
}

/** By a matrix whose lines lie in several buffers: each gives some columns of the result, or a part of its sums. */
function productOfParts(
  backend: WebGpuBackend,
  a: Matrix,
  b: Matrix,
  parts: readonly Matrix[],
  out: GpuBuffer,
  { second, accumulate = false, scale }: ProductOptions,
): void {
  let first = 0;
  for (const part of parts) {
    const scaled = scale !== undefined && { scale };
    if (b.transposed) product(backend, a, part, out, { ...scaled, accumulate, place: { columns: b.lines, first } });
    else {
      const columns = columnsOf(backend, a, first, part.lines);
      product(backend, columns, part, out, { ...scaled, accumulate: accumulate || first > 0 });
      backend.gpu.give(columns.buffer);
    }
    first += part.lines;
  }
  if (second !== undefined) product(backend, second.a, second.b, out, { accumulate: true, scale: second.scale });
}

const COPY_LANES = 256;

const copyColumns = program({
  name: 'Columns',
  parameters: ['n', 'columns', 'length', 'first'],
  buffers: { x: 'f32', out: 'rw f32' },
  workgroup: COPY_LANES,
  main: `  let i = group * ${COPY_LANES}u + lane;
  if (i < p.n) { out[i] = x[(i / p.columns) * p.length + p.first + i % p.columns]; }`,
});

/** Some columns of a matrix of float32, in a buffer of their own. */
function columnsOf({ gpu }: WebGpuBackend, a: Matrix, first: number, columns: number): Matrix {
  if (a.transposed || a.format !== 'f32') throw new Error('Expected a float32 matrix as it lies');
  const n = a.lines * columns;
  const buffer = gpu.take(Math.max(16, 4 * n));
  gpu.run(copyColumns, [a.buffer, buffer], [n, columns, a.length, first], groupsFor(n, COPY_LANES));
  return { buffer, format: 'f32', lines: a.lines, length: columns, transposed: false };
}
