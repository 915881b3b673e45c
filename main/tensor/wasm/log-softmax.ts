/**
 * Log-probabilities of chosen tokens and entropies from hidden states, and their gradients, without ever holding all
 * logits: they are computed and consumed in tiles of at most 8 MiB, rows [R] by a range of the vocabulary [C].
 */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { LOG_SOFTMAX_GRAD_TILE, LOG_SOFTMAX_TILE } from '../kernels/ids.ts';
import { type FusedCall, matrixShape, registerFused, rowsPerTile, withScratch } from './fused.ts';
import { gemm } from './gemm.ts';
import type { WasmRuntime } from './runtime.ts';

/** Rows and columns of a tile of logits: 8 MiB at most. */
const tileRows = 512;
const tileColumns = 4096;
/** Bytes of a row's running state: four f64. */
const stateBytes = 32;

/** Registers 'SelectiveLogSoftmax' and 'SelectiveLogSoftmaxGrad'. */
export function registerLogSoftmax(runtime: WasmRuntime): void {
  registerFused(runtime, 'SelectiveLogSoftmax', logSoftmax);
  registerFused(runtime, 'SelectiveLogSoftmaxGrad', logSoftmaxGrad);
}

/** N rows, model width D, V tokens. */
interface Sizes {
  readonly rows: number;
  readonly width: number;
  readonly vocabulary: number;
  readonly temperature: number;
}

/** A range of rows and a range of the vocabulary; `logits` starts at `address`, with a row every `stride` elements. */
interface Tile {
  readonly row: number;
  readonly rows: number;
  readonly column: number;
  readonly columns: number;
}

function sizesOf(call: FusedCall): Sizes {
  const [rows, width] = matrixShape(call, 'hidden');
  const [vocabulary] = matrixShape(call, 'weight');
  const temperature = call.number('temperature');
  call.expectShape('weight', [vocabulary, width]);
  call.expectShape('targets', [rows]);
  if (!(temperature > 0)) throw new RangeError(`Expected "temperature" to be above 0, got ${temperature}`);
  return { rows, width, vocabulary, temperature };
}

/** Visits the tiles, all columns of some rows before the next rows. */
function eachTile({ rows, vocabulary }: Sizes, visit: (tile: Tile) => void): void {
  for (let row = 0; row < rows; row += tileRows) {
    for (let column = 0; column < vocabulary; column += tileColumns) {
      const columns = Math.min(tileColumns, vocabulary - column);
      visit({ row, rows: Math.min(tileRows, rows - row), column, columns });
    }
  }
}

function tileBytes({ rows, vocabulary }: Sizes): number {
  return Math.min(rows, tileRows) * Math.min(vocabulary, tileColumns) * 4;
}

/** logits = hidden · weightᵀ / temperature of one tile. */
function makeLogits(runtime: WasmRuntime, call: FusedCall, sizes: Sizes, tile: Tile, c: number, cRow: number): void {
  const { width } = sizes;
  gemm(runtime, {
    ...weightFrom(call, tile.column * width),
    m: tile.rows,
    n: tile.columns,
    k: width,
    alpha: 1 / sizes.temperature,
    c,
    cRow,
    a: call.pointer('hidden') + tile.row * width * 4,
    aRow: width,
    aCol: 1,
    bRow: 1,
    bCol: width,
  });
}

/** The weight from its number `first` on, as the right operand of a product. */
function weightFrom(call: FusedCall, first: number): { readonly b: number; readonly bIsHalf: boolean } {
  const { at, isHalf } = call.matrix('weight');
  return { b: at + first * (isHalf ? 2 : 4), bIsHalf: isHalf };
}

/** [logp, entropy, lse], each [N]; with `keepLogits` also the scaled logits [N, V]. */
function logSoftmax(runtime: WasmRuntime, call: FusedCall): TensorInfo[] {
  const { heap, pool } = runtime;
  const sizes = sizesOf(call);
  const { rows, vocabulary } = sizes;
  const outputs = [1, 2, 3].map(() => heap.output([rows], 'float32'));
  const kept = call.flag('keepLogits') ? heap.output([rows, vocabulary], 'float32') : null;
  const results = outputs.map((info) => heap.pointer(info));
  const states = Math.min(rows, tileRows) * stateBytes;
  withScratch(heap, states + (kept ? 0 : tileBytes(sizes)), (state) => {
    eachTile(sizes, (tile) => {
      const stride = kept ? vocabulary : tile.columns;
      const logits = kept ? heap.pointer(kept) + (tile.row * vocabulary + tile.column) * 4 : state + states;
      makeLogits(runtime, call, sizes, tile, logits, stride);
      const last = tile.column + tile.columns === vocabulary ? 1 : 0;
      const perTile = rowsPerTile(tile.columns);
      const [targets = 0, ...cells] = [call.pointer('targets'), ...results].map((address) => address + tile.row * 4);
      const place = [logits, stride, tile.rows, tile.columns, tile.column];
      const args = [...place, targets, state, ...cells, last, perTile];
      pool.run(LOG_SOFTMAX_TILE, args, Math.ceil(tile.rows / perTile));
    });
  });
  return kept ? [...outputs, kept] : outputs;
}

/** [dHidden, dWeight]; a gradient that is not needed comes back as a scalar. An input `logits` saves their product. */
function logSoftmaxGrad(runtime: WasmRuntime, call: FusedCall): TensorInfo[] {
  const { heap } = runtime;
  const sizes = sizesOf(call);
  const { rows, width, vocabulary } = sizes;
  for (const name of ['dlogp', 'dentropy', 'lse', 'entropy']) call.expectShape(name, [rows]);
  if (call.has('logits')) call.expectShape('logits', [rows, vocabulary]);
  const needHidden = call.flag('needHidden');
  const needWeight = call.flag('needWeight');
  const dHidden = heap.output(needHidden ? [rows, width] : [], 'float32');
  const dWeight = heap.output(needWeight ? [vocabulary, width] : [], 'float32');
  withScratch(heap, tileBytes(sizes), (dLogits) => {
    eachTile(sizes, (tile) => {
      computeDLogits(runtime, call, sizes, tile, dLogits);
      if (needHidden) addHidden(runtime, call, sizes, tile, dLogits, heap.pointer(dHidden));
      if (needWeight) addWeight(runtime, call, sizes, tile, dLogits, heap.pointer(dWeight));
    });
  });
  return [dHidden, dWeight];
}

/** The gradient with respect to one tile of raw logits, into `dLogits`. */
function computeDLogits(runtime: WasmRuntime, call: FusedCall, sizes: Sizes, tile: Tile, dLogits: number): void {
  const { vocabulary, temperature } = sizes;
  const kept = call.has('logits');
  const logits = kept ? call.pointer('logits') + (tile.row * vocabulary + tile.column) * 4 : dLogits;
  if (!kept) makeLogits(runtime, call, sizes, tile, dLogits, tile.columns);
  const names = ['targets', 'dlogp', 'dentropy', 'lse', 'entropy'];
  const cells = names.map((name) => call.pointer(name) + tile.row * 4);
  const perTile = rowsPerTile(tile.columns);
  const place = [logits, kept ? vocabulary : tile.columns, tile.rows, tile.columns, tile.column];
  const args = [...place, ...cells, 1 / temperature, dLogits, tile.columns, perTile];
  runtime.pool.run(LOG_SOFTMAX_GRAD_TILE, args, Math.ceil(tile.rows / perTile));
}

/** dHidden [N, D] += dLogits · weight. */
function addHidden(
  runtime: WasmRuntime,
  call: FusedCall,
  { width }: Sizes,
  tile: Tile,
  dLogits: number,
  dHidden: number,
): void {
  gemm(runtime, {
    m: tile.rows,
    n: width,
    k: tile.columns,
    a: dLogits,
    aRow: tile.columns,
    aCol: 1,
    ...weightFrom(call, tile.column * width),
    bRow: width,
    bCol: 1,
    c: dHidden + tile.row * width * 4,
    cRow: width,
    accumulate: tile.column > 0,
  });
}

/** dWeight [V, D] += dlogitsᵀ · hidden. */
function addWeight(
  runtime: WasmRuntime,
  call: FusedCall,
  { width }: Sizes,
  tile: Tile,
  dLogits: number,
  dWeight: number,
): void {
  gemm(runtime, {
    m: tile.columns,
    n: width,
    k: tile.rows,
    a: dLogits,
    aRow: 1,
    aCol: tile.columns,
    b: call.pointer('hidden') + tile.row * width * 4,
    bRow: width,
    bCol: 1,
    c: dWeight + tile.column * width * 4,
    cRow: width,
    accumulate: tile.row > 0,
  });
}
