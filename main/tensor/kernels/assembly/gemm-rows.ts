/**
 * The matrix product C = alpha·A·Bᵀ (+ C) for a few rows of A, both operands contiguous along K: generation for a group
 * of sequences against weights [out, in]. B is read once and unpacked, since packing it would cost more than the
 * product. Compared with gemm.ts the roles are swapped: A is packed in panels (gemm-pack.ts) that stay in the cache, and
 * each step takes one number from each of B's rows, the vectors here. A sum goes through all of K at once: up to its
 * DEPTH_BLOCK the bits are those of gemm.ts, which rounds the sums of longer ones into C part by part.
 */
import { block4x16, block6x8 } from './micro';
import { floatArg, intArg, pointerArg, putFour, putOne } from './simd';
import { widenLines } from './widen';

/** Bytes of a micro-kernel's block. */
export const BLOCK: usize = 256;

/**
 * Tile: a range of B's rows. Parameters: packed A; B, its row stride; C, its row stride (elements); M, N, K; rows of B a
 * tile; alpha, accumulate; B's rows and A's rows that a micro-kernel takes (6 and 8, or 4 and 16); whether B is bfloat16.
 */
export function gemmRows(args: usize, tile: i32, scratch: usize): void {
  const packed = pointerArg(args, 0);
  const isHalf = intArg(args, 13) != 0;
  const bStride = <usize>intArg(args, 2) << (isHalf ? 1 : 2);
  const cRow = <usize>intArg(args, 4) << 2;
  const rows = intArg(args, 5);
  const depth = intArg(args, 7);
  const span = intArg(args, 8);
  const alpha = floatArg(args, 9);
  const add = intArg(args, 10) != 0;
  const height = intArg(args, 11);
  const width = intArg(args, 12);
  const bRow = isHalf ? <usize>depth << 2 : bStride;
  const first = tile * span;
  const last = min(intArg(args, 6), first + span);
  for (let column = first; column < last; column += height) {
    const vectors = min(height, last - column);
    let b = pointerArg(args, 1) + <usize>column * bStride;
    if (isHalf) {
      widenLines(b, bStride, vectors, depth, scratch + BLOCK);
      b = scratch + BLOCK;
    }
    const c = pointerArg(args, 3) + (<usize>column << 2);
    for (let row = 0; row < rows; row += width) {
      const panel = packed + (<usize>row * depth << 2);
      if (width == 16) unpacked4x16(panel, b, bRow, vectors, depth, scratch);
      else unpacked6x8(panel, b, bRow, vectors, depth, scratch);
      storeTransposed(scratch, <usize>width << 2, vectors, min(width, rows - row), c + <usize>row * cRow, cRow, alpha, add);
    }
  }
}

/** Stores a micro-kernel's block [vectors of B, rows of A] into C transposed. */
function storeTransposed(
  block: usize, blockRow: usize, vectors: i32, rows: i32, c: usize, cRow: usize, alpha: f32, add: bool,
): void {
  let row = 0;
  if (vectors >= 4) {
    for (; row + 4 <= rows; row += 4) transposeFour(block + (<usize>row << 2), blockRow, c + <usize>row * cRow, cRow, alpha, add);
  }
  transposeEach(block, blockRow, 0, min(vectors, 4), row, rows, c, cRow, alpha, add);
  transposeEach(block, blockRow, 4, vectors, 0, rows, c, cRow, alpha, add);
}

/** Four vectors by four rows. */
function transposeFour(from: usize, fromRow: usize, to: usize, toRow: usize, alpha: f32, add: bool): void {
  const w = v128.load(from);
  const x = v128.load(from + fromRow);
  const y = v128.load(from + 2 * fromRow);
  const z = v128.load(from + 3 * fromRow);
  const wxLow = v128.shuffle<f32>(w, x, 0, 4, 1, 5);
  const wxHigh = v128.shuffle<f32>(w, x, 2, 6, 3, 7);
  const yzLow = v128.shuffle<f32>(y, z, 0, 4, 1, 5);
  const yzHigh = v128.shuffle<f32>(y, z, 2, 6, 3, 7);
  putFour(to, v128.shuffle<f64>(wxLow, yzLow, 0, 2), alpha, add);
  putFour(to + toRow, v128.shuffle<f64>(wxLow, yzLow, 1, 3), alpha, add);
  putFour(to + 2 * toRow, v128.shuffle<f64>(wxHigh, yzHigh, 0, 2), alpha, add);
  putFour(to + 3 * toRow, v128.shuffle<f64>(wxHigh, yzHigh, 1, 3), alpha, add);
}

function transposeEach(
  block: usize, blockRow: usize, firstVector: i32, vectors: i32, firstRow: i32, rows: i32,
  c: usize, cRow: usize, alpha: f32, add: bool,
): void {
  for (let row = firstRow; row < rows; row++) {
    for (let vector = firstVector; vector < vectors; vector++) {
      const sum = load<f32>(block + <usize>vector * blockRow + (<usize>row << 2));
      putOne(c + <usize>row * cRow + (<usize>vector << 2), sum, alpha, add);
    }
  }
}

/** Address of a vector; past the end the last one is repeated and its sums are discarded. */
// @ts-ignore: decorator
@inline
function vectorAt(b: usize, bRow: usize, vectors: i32, vector: i32): usize {
  return b + <usize>min(vector, vectors - 1) * bRow;
}

/** Six vectors by a panel of eight rows. */
export function unpacked6x8(panel: usize, b: usize, bRow: usize, vectors: i32, depth: i32, block: usize): void {
  const b1 = vectorAt(b, bRow, vectors, 1);
  const b2 = vectorAt(b, bRow, vectors, 2);
  const b3 = vectorAt(b, bRow, vectors, 3);
  const b4 = vectorAt(b, bRow, vectors, 4);
  block6x8(panel, b, b1, b2, b3, b4, vectorAt(b, bRow, vectors, 5), 4, depth, block);
}

/** Four vectors by a panel of sixteen rows. */
export function unpacked4x16(panel: usize, b: usize, bRow: usize, vectors: i32, depth: i32, block: usize): void {
  const b1 = vectorAt(b, bRow, vectors, 1);
  const b2 = vectorAt(b, bRow, vectors, 2);
  const b3 = vectorAt(b, bRow, vectors, 3);
  block4x16(panel, false, 0, 64, b, b1, b2, b3, 4, depth, block, block + 64, block + 128, block + 192, false);
}
