/**
 * Matrix products: by tiles of the result (product-tile.ts), with K in slices where the tiles are few (product-slices.ts);
 * small products of few rows read the weights once, each lane a part of a line (product-rows.ts).
 */
import type { WebGpuBackend } from '../backend.ts';
import { groupsFor } from '../kernel.ts';
import type { GpuBuffer } from '../pool.ts';
import { program } from '../program.ts';
import { formOf, type Matrix, type Second } from './matrix.ts';
import { takenUnit, unitsProduct } from './product-by-units.ts';
import { rowsProduct, takesRows } from './product-rows.ts';
import { finishSlices, slicesOf } from './product-slices.ts';
import { runTiles, type TileKey, tileFor } from './product-tile.ts';

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
  const plain = batch === 1 && !accumulate && scale === undefined && a.format === 'f32' && !a.transposed;
  const wide = place ?? { columns: n, first: 0 };
  const unit = plain ? takenUnit(backend, m, [b]) : null;
  if (unit !== null) {
    const call = { x: a.buffer, m, weights: [b], epilogue: 'store', out, place: wide } as const;
    unitsProduct(backend, unit, { ...call, ...(second && { second }) });
    return;
  }
  if (scale === undefined && takesRows(a, b, batch, accumulate)) {
    rowsProduct(backend, a, b, out, second, place);
    return;
  }
  const tile = tileFor(m, n, batch);
  const slices = batch > 1 ? { count: 1, length: k } : slicesOf(tile, m, n, k);
  const sliced = slices.count > 1;
  const { columns, first } = sliced ? { columns: n, first: 0 } : wide;
  const key: TileKey = {
    tile,
    a: formOf(a),
    b: formOf(b),
    transposeA: a.transposed,
    transposeB: b.transposed,
    storeVectors: n % 4 === 0 && columns % 4 === 0 && first % 4 === 0,
    second: second === undefined ? null : { a: formOf(second.a), b: formOf(second.b) },
    accumulate: accumulate && !sliced,
    scaled: scale !== undefined,
    sliced,
  };
  const rank = second === undefined ? 0 : second.a.transposed ? second.a.lines : second.a.length;
  const target = sliced ? backend.gpu.take(4 * slices.count * m * n) : out;
  runTiles(backend, key, {
    buffers: [a.buffer, b.buffer, ...(second === undefined ? [] : [second.a.buffer, second.b.buffer]), target],
    m,
    n,
    k,
    rank,
    batch,
    slices,
    columns,
    first,
    strides: [a.batchStride ?? 0, b.batchStride ?? 0],
    scale: second?.scale ?? scale ?? 1,
  });
  if (!sliced) return;
  const epilogue = accumulate ? 'add' : 'store';
  finishSlices(backend.gpu, { sums: target, slices: slices.count, m, widths: [n], epilogue, out, place: wide });
  backend.gpu.give(target);
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
      try {
        product(backend, columns, part, out, { ...scaled, accumulate: accumulate || first > 0 });
      } finally {
        backend.gpu.give(columns.buffer);
      }
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
