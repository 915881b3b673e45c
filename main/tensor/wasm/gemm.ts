/**
 * Matrix products at the level of addresses: C = alpha·A·B, or C += alpha·A·B, with element strides for both operands,
 * so that one packed kernel serves all four transpositions.
 */
import { GEMM_COLUMNS, GEMM_DOT, GEMM_PACK, GEMM_ROWS, GEMM_TILE } from '../kernels/ids.ts';
import { CACHE_LINE } from './heap.ts';
import type { Pool } from './pool.ts';
import type { WasmRuntime } from './runtime.ts';

/** Operands of one product, or of `batch` products whose operands are at fixed distances. Strides count elements. */
export interface GemmOptions {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly a: number;
  readonly aRow: number;
  readonly aCol: number;
  readonly b: number;
  readonly bRow: number;
  readonly bCol: number;
  readonly c: number;
  readonly cRow: number;
  readonly alpha?: number;
  /** Adds to C instead of overwriting it. */
  readonly accumulate?: boolean;
  readonly batch?: number;
  readonly aBatch?: number;
  readonly bBatch?: number;
  /** B is bfloat16, and one of its strides is 1. */
  readonly bIsHalf?: boolean;
}

interface Gemm extends Required<GemmOptions> {
  readonly cBatch: number;
}

/** Register blocks of the two micro-kernels: rows of A by columns of B. */
const narrowPanels = { height: 6, width: 8 };
const widePanels = { height: 4, width: 16 };
/** Up to this many rows of A, plain dot products are fastest. */
const dotLimit = 5;
/** Up to this many rows of A, reading B unpacked beats packing it; where K is short, packing costs less. */
const rowsLimit = 48;
const shortRowsLimit = 16;
const shortDepth = 64;
/** Up to this many rows of A, each tile packs its columns of B itself. */
const columnRowsLimit = 512;
/** Longest K without a visit to C in between, as in assembly/gemm.ts. */
const depthBlock = 576;
/** Maximum elements of a packed operand: 16 MiB. */
const packedLimit = 1 << 22;
/** Longest K that is packed at once; longer ones are cut and accumulated. */
const depthLimit = 4096;
/** Elements that one packing tile moves. */
const packTile = 16384;
/** Multiplications below which waking the workers costs more than it saves. */
const serialLimit = 1 << 18;

/** Computes the product on all threads of the pool. Allocates only scratch, and frees it. */
export function gemm(runtime: WasmRuntime, options: GemmOptions): void {
  const task: Gemm = {
    alpha: 1,
    accumulate: false,
    batch: 1,
    bIsHalf: false,
    aBatch: options.m * options.k,
    bBatch: options.k * options.n,
    ...options,
    cBatch: options.m * options.n,
  };
  if (task.m === 0 || task.n === 0 || task.batch === 0) return;
  if (task.k === 0) clear(runtime, task);
  else if (columnsPay(runtime, task)) columnProducts(runtime, task);
  else if (task.aCol !== 1 || task.bRow !== 1 || task.m > mostRows(task.k)) packedProduct(runtime, task);
  else if (task.m <= dotLimit || task.batch > 1) dotProducts(runtime, task);
  else rowProducts(runtime, task);
}

function mostRows(k: number): number {
  return k < shortDepth ? shortRowsLimit : rowsLimit;
}

/** An empty sum. */
function clear({ heap }: WasmRuntime, task: Gemm): void {
  if (task.accumulate) return;
  for (let item = 0; item < task.batch; item++) {
    const c = task.c + 4 * item * task.cBatch;
    for (let row = 0; row < task.m; row++) heap.f32(c + 4 * row * task.cRow, task.n).fill(0);
  }
}

function rowProducts(runtime: WasmRuntime, task: Gemm): void {
  const { heap, pool, threads } = runtime;
  const { m, n, k } = task;
  const { height, width } = runtime.wide && m > narrowPanels.width ? widePanels : narrowPanels;
  const packed = heap.malloc(Math.ceil(m / width) * width * k * 4);
  try {
    pack(runtime, [task.a, task.aRow, 1, 0, packed, m, k, width], 1, { parallel: false });
    // About 128 KiB of B a tile, but several tiles for every thread.
    const wanted = Math.min(Math.round(32768 / k), Math.ceil(n / (6 * threads)));
    const span = Math.max(1, Math.ceil(wanted / height)) * height;
    const args = [packed, task.b, task.bCol, task.c, task.cRow, m, n, k, span];
    args.push(task.alpha, task.accumulate ? 1 : 0, height, width, task.bIsHalf ? 1 : 0);
    pool.run(GEMM_ROWS, args, Math.ceil(n / span), m * n * k > serialLimit);
  } finally {
    heap.free(packed);
  }
}

function columnsPay({ wide, threads }: WasmRuntime, { m, n, k, aCol, batch }: Gemm): boolean {
  const { width } = wide ? widePanels : narrowPanels;
  return (
    aCol === 1 && batch === 1 && k <= depthBlock && m > mostRows(k) && m <= columnRowsLimit && n >= 3 * threads * width
  );
}

function columnProducts({ pool, threads, wide }: WasmRuntime, task: Gemm): void {
  const { m, n, k } = task;
  const { height, width } = wide ? widePanels : narrowPanels;
  // At most 64 KiB of B a tile, but several tiles for every thread.
  const span = Math.max(1, Math.floor(Math.min(16384 / k, n / (4 * threads)) / width)) * width;
  const args = [task.a, task.aRow, task.b, task.bCol, task.bRow, task.c, task.cRow, m, n, k, span];
  args.push(task.alpha, task.accumulate ? 1 : 0, height, width, task.bIsHalf ? 1 : 0);
  pool.run(GEMM_COLUMNS, args, Math.ceil(n / span), m * n * k > serialLimit);
}

function dotProducts({ pool, threads }: WasmRuntime, task: Gemm): void {
  const { m, n, k, batch } = task;
  // About 64 KiB of B a tile, but several tiles for every thread.
  const wanted = Math.min(Math.round(16384 / k), Math.ceil((n * batch) / (6 * threads)));
  const span = Math.max(4, Math.ceil(wanted / 4) * 4);
  const spans = Math.ceil(n / span);
  const args = [task.a, task.aRow, task.aBatch, task.b, task.bCol, task.bBatch, task.c, task.cRow, 1, task.cBatch];
  args.push(m, n, k, span, spans, task.alpha, task.accumulate ? 1 : 0, task.bIsHalf ? 1 : 0);
  pool.run(GEMM_DOT, args, spans * batch, batch * m * n * k > serialLimit);
}

/** Splits K, then N, then M, so that the packed operands stay within their limit. */
function packedProduct(runtime: WasmRuntime, task: Gemm): void {
  const { m, n, k } = task;
  const batchLimit = Math.max(1, Math.floor(packedLimit / (Math.max(m, n) * k)));
  if (task.batch > batchLimit) {
    eachPart(task.batch, batchLimit, (from, batch) => packedProduct(runtime, batchPart(task, from, batch)));
    return;
  }
  eachPart(k, evenPart(k, depthLimit), (fromK, partK) => {
    const vectorsLimit = Math.floor(packedLimit / partK / task.batch / 48) * 48 || 48;
    eachPart(n, vectorsLimit, (fromN, partN) => {
      eachPart(m, vectorsLimit, (fromM, partM) => {
        product(runtime, {
          ...task,
          m: partM,
          n: partN,
          k: partK,
          a: task.a + 4 * (fromM * task.aRow + fromK * task.aCol),
          b: task.b + bBytes(task) * (fromK * task.bRow + fromN * task.bCol),
          c: task.c + 4 * (fromM * task.cRow + fromN),
          accumulate: task.accumulate || fromK > 0,
        });
      });
    });
  });
}

function product(runtime: WasmRuntime, task: Gemm): void {
  const { heap, pool } = runtime;
  const { m, n, k, batch } = task;
  const { height, width } = runtime.wide ? widePanels : narrowPanels;
  // An operand that all items share (stride 0) is packed once.
  const aItems = task.aBatch === 0 ? 1 : batch;
  const bItems = task.bBatch === 0 ? 1 : batch;
  // Rows of A that lie along K are read as they are.
  const asItLies = task.aCol === 1;
  const aBytes = asItLies ? 0 : Math.ceil(m / height) * height * k * 4;
  const bBytes = Math.ceil(n / width) * width * k * 4;
  const parallel = batch * m * n * k > serialLimit;
  const packedA = heap.malloc(aItems * aBytes + bItems * bBytes + CACHE_LINE);
  try {
    const packedB = Math.ceil((packedA + aItems * aBytes) / CACHE_LINE) * CACHE_LINE;
    if (!asItLies)
      pack(runtime, [task.a, task.aRow, task.aCol, task.aBatch, packedA, m, k, height], aItems, { parallel });
    const ofB: PackArgs = [task.b, task.bCol, task.bRow, task.bBatch, packedB, n, k, width];
    pack(runtime, ofB, bItems, { parallel, isHalf: task.bIsHalf });
    const { rows, columns } = blockSize(m, n, batch, runtime.threads);
    const across = Math.ceil(n / columns);
    const blocks = across * Math.ceil(m / rows);
    const [a, aDistance] = asItLies ? [task.a, 4 * task.aBatch] : [packedA, aItems === 1 ? 0 : aBytes];
    const args = [a, packedB, aDistance, bItems === 1 ? 0 : bBytes];
    args.push(task.c, task.cRow, task.cBatch, m, n, k, rows, columns, across, blocks);
    args.push(task.alpha, task.accumulate ? 1 : 0, height, width, asItLies ? task.aRow : 0);
    pool.run(GEMM_TILE, args, blocks * batch, parallel);
  } finally {
    heap.free(packedA);
  }
}

type PackArgs = [
  source: number,
  vectorStride: number,
  depthStride: number,
  batchStride: number,
  target: number,
  vectors: number,
  depth: number,
  width: number,
];

function pack(
  runtime: WasmRuntime,
  args: PackArgs,
  items: number,
  { parallel, isHalf = false }: { readonly parallel: boolean; readonly isHalf?: boolean },
): void {
  const [, vectorStride, , , , vectors, depth, width] = args;
  // Interleaved vectors are read a whole cache line at a time: many panels over a short part of K. Others are read
  // along K, for as long as possible.
  const partSteps = Math.min(depth, vectorStride === 1 ? 64 : 1024);
  const groupPanels = Math.max(1, Math.round(packTile / (width * partSteps)));
  const parts = Math.ceil(depth / partSteps);
  const tiles = parts * Math.ceil(Math.ceil(vectors / width) / groupPanels);
  const all = [...args, groupPanels, partSteps, parts, tiles, isHalf ? 1 : 0];
  runtime.pool.run(GEMM_PACK, all, tiles * items, parallel);
}

/** Blocks of C small enough to give every thread several, large enough to use a packed panel many times. */
function blockSize(m: number, n: number, batch: number, threads: number): { rows: number; columns: number } {
  let rows = 96;
  let columns = 384;
  const blocks = () => Math.ceil(m / rows) * Math.ceil(n / columns) * batch;
  while (blocks() < 6 * threads && (columns > 48 || rows > 24)) {
    if (columns > 2 * rows || rows <= 24) columns /= 2;
    else rows /= 2;
  }
  return { rows, columns };
}

/** The largest part of equal size that stays within the limit. */
function evenPart(length: number, limit: number): number {
  return Math.ceil(length / Math.ceil(length / limit));
}

function eachPart(length: number, limit: number, run: (from: number, part: number) => void): void {
  for (let from = 0; from < length; from += limit) run(from, Math.min(limit, length - from));
}

function bBytes({ bIsHalf }: Gemm): number {
  return bIsHalf ? 2 : 4;
}

function batchPart(task: Gemm, from: number, batch: number): Gemm {
  return {
    ...task,
    batch,
    a: task.a + 4 * from * task.aBatch,
    b: task.b + bBytes(task) * from * task.bBatch,
    c: task.c + 4 * from * task.cBatch,
  };
}

/** Whether the wide micro-kernels are exact and faster on this machine, as where V8 compiled them to 256-bit operations. */
export function widePanelsPay(runtime: WasmRuntime): boolean {
  // On this thread only: on a busy machine the workers could be late for one kind and skew the timing.
  const pool: Pool = { ...runtime.pool, run: (kernel, args, tiles) => runtime.pool.run(kernel, args, tiles, false) };
  const alone = { ...runtime, pool };
  // With packed operands, and with few rows.
  return widePays(alone, [64, 96, 320]) && widePays(alone, [widePanels.width, 192, 320]);
}

/** Rounds in which the two kinds are timed alternately; the best time of each counts. */
const TIMINGS = 16;

function widePays(runtime: WasmRuntime, [m, n, k]: readonly [m: number, n: number, k: number]): boolean {
  const { heap } = runtime;
  const block = heap.malloc(4 * (m * k + n * k + m * n));
  try {
    heap.f32(block, m * k + n * k).forEach((_, i, values) => {
      values[i] = Math.sin(i);
    });
    const [b, c] = [block + 4 * m * k, block + 4 * (m * k + n * k)];
    const task = { m, n, k, a: block, aRow: k, aCol: 1, b, bRow: 1, bCol: k, c, cRow: n };
    const fastest = { narrow: Number.POSITIVE_INFINITY, wide: Number.POSITIVE_INFINITY };
    const results: Float32Array[] = [];
    for (let round = 0; round < TIMINGS; round++) {
      for (const kind of ['narrow', 'wide'] as const) {
        const start = performance.now();
        gemm({ ...runtime, wide: kind === 'wide' }, task);
        fastest[kind] = Math.min(fastest[kind], performance.now() - start);
        results.push(heap.f32(c, m * n).slice());
      }
    }
    // The pass is experimental: a single differing bit and it is not used.
    const alike = results.every((result) => result.every((value, i) => value === results[0]?.[i]));
    return alike && fastest.wide < fastest.narrow;
  } finally {
    heap.free(block);
  }
}
