/**
 * The matrix product C = alpha·A·Bᵀ (+ C) for a few rows of A, both operands contiguous along K: generation for a group
 * of sequences against weights [out, in]. B is read once and unpacked, since packing it would cost more than the
 * product. Compared with gemm.ts the roles are swapped: A is packed in panels (gemm-pack.ts) that stay in the cache, and
 * each step takes one number from each of B's rows, the vectors here. A sum goes through all of K at once: up to its
 * DEPTH_BLOCK the bits are those of gemm.ts, which rounds the sums of longer ones into C part by part.
 */
import { floatArg, intArg, madd, pointerArg, putFour } from './simd';
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
      const scaled = alpha * load<f32>(block + <usize>vector * blockRow + (<usize>row << 2));
      const to = c + <usize>row * cRow + (<usize>vector << 2);
      store<f32>(to, add ? load<f32>(to) + scaled : scaled);
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
  let b0 = b;
  let b1 = vectorAt(b, bRow, vectors, 1);
  let b2 = vectorAt(b, bRow, vectors, 2);
  let b3 = vectorAt(b, bRow, vectors, 3);
  let b4 = vectorAt(b, bRow, vectors, 4);
  let b5 = vectorAt(b, bRow, vectors, 5);
  let c00 = f32x4.splat(0);
  let c01 = f32x4.splat(0);
  let c10 = f32x4.splat(0);
  let c11 = f32x4.splat(0);
  let c20 = f32x4.splat(0);
  let c21 = f32x4.splat(0);
  let c30 = f32x4.splat(0);
  let c31 = f32x4.splat(0);
  let c40 = f32x4.splat(0);
  let c41 = f32x4.splat(0);
  let c50 = f32x4.splat(0);
  let c51 = f32x4.splat(0);
  for (let k = 0; k < depth; k++) {
    const a0 = v128.load(panel);
    const a1 = v128.load(panel, 16);
    const x0 = v128.load32_splat(b0);
    c00 = madd(x0, a0, c00);
    c01 = madd(x0, a1, c01);
    const x1 = v128.load32_splat(b1);
    c10 = madd(x1, a0, c10);
    c11 = madd(x1, a1, c11);
    const x2 = v128.load32_splat(b2);
    c20 = madd(x2, a0, c20);
    c21 = madd(x2, a1, c21);
    const x3 = v128.load32_splat(b3);
    c30 = madd(x3, a0, c30);
    c31 = madd(x3, a1, c31);
    const x4 = v128.load32_splat(b4);
    c40 = madd(x4, a0, c40);
    c41 = madd(x4, a1, c41);
    const x5 = v128.load32_splat(b5);
    c50 = madd(x5, a0, c50);
    c51 = madd(x5, a1, c51);
    panel += 32;
    b0 += 4;
    b1 += 4;
    b2 += 4;
    b3 += 4;
    b4 += 4;
    b5 += 4;
  }
  v128.store(block, c00);
  v128.store(block, c01, 16);
  v128.store(block, c10, 32);
  v128.store(block, c11, 48);
  v128.store(block, c20, 64);
  v128.store(block, c21, 80);
  v128.store(block, c30, 96);
  v128.store(block, c31, 112);
  v128.store(block, c40, 128);
  v128.store(block, c41, 144);
  v128.store(block, c50, 160);
  v128.store(block, c51, 176);
}

/** Four vectors by a panel of sixteen rows, for V8's revectorizer, which makes 256-bit operations of neighbouring pairs. */
export function unpacked4x16(panel: usize, b: usize, bRow: usize, vectors: i32, depth: i32, block: usize): void {
  let b0 = b;
  let b1 = vectorAt(b, bRow, vectors, 1);
  let b2 = vectorAt(b, bRow, vectors, 2);
  let b3 = vectorAt(b, bRow, vectors, 3);
  let c00 = f32x4.splat(0);
  let c01 = f32x4.splat(0);
  let c02 = f32x4.splat(0);
  let c03 = f32x4.splat(0);
  let c10 = f32x4.splat(0);
  let c11 = f32x4.splat(0);
  let c12 = f32x4.splat(0);
  let c13 = f32x4.splat(0);
  let c20 = f32x4.splat(0);
  let c21 = f32x4.splat(0);
  let c22 = f32x4.splat(0);
  let c23 = f32x4.splat(0);
  let c30 = f32x4.splat(0);
  let c31 = f32x4.splat(0);
  let c32 = f32x4.splat(0);
  let c33 = f32x4.splat(0);
  for (let k = 0; k < depth; k++) {
    const a0 = v128.load(panel);
    const a1 = v128.load(panel, 16);
    const a2 = v128.load(panel, 32);
    const a3 = v128.load(panel, 48);
    const x0 = v128.load32_splat(b0);
    c00 = madd(x0, a0, c00);
    c01 = madd(x0, a1, c01);
    c02 = madd(x0, a2, c02);
    c03 = madd(x0, a3, c03);
    const x1 = v128.load32_splat(b1);
    c10 = madd(x1, a0, c10);
    c11 = madd(x1, a1, c11);
    c12 = madd(x1, a2, c12);
    c13 = madd(x1, a3, c13);
    const x2 = v128.load32_splat(b2);
    c20 = madd(x2, a0, c20);
    c21 = madd(x2, a1, c21);
    c22 = madd(x2, a2, c22);
    c23 = madd(x2, a3, c23);
    const x3 = v128.load32_splat(b3);
    c30 = madd(x3, a0, c30);
    c31 = madd(x3, a1, c31);
    c32 = madd(x3, a2, c32);
    c33 = madd(x3, a3, c33);
    panel += 64;
    b0 += 4;
    b1 += 4;
    b2 += 4;
    b3 += 4;
  }
  v128.store(block, c00);
  v128.store(block, c01, 16);
  v128.store(block, c02, 32);
  v128.store(block, c03, 48);
  v128.store(block, c10, 64);
  v128.store(block, c11, 80);
  v128.store(block, c12, 96);
  v128.store(block, c13, 112);
  v128.store(block, c20, 128);
  v128.store(block, c21, 144);
  v128.store(block, c22, 160);
  v128.store(block, c23, 176);
  v128.store(block, c30, 192);
  v128.store(block, c31, 208);
  v128.store(block, c32, 224);
  v128.store(block, c33, 240);
}
