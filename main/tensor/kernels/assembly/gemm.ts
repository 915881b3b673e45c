/**
 * The matrix product C = alpha·A·B (+ C) over packed panels (gemm-pack.ts). A tile is a block of C; the micro-kernel
 * holds a small part of it in registers for up to DEPTH_BLOCK steps along K. The order of summation depends on the
 * shapes only, so the result is the same on any number of threads.
 */
import { floatArg, intArg, pointerArg } from './simd';

/** Steps along K between visits to C: a B panel of this depth (10 KB at width 8) stays in the first-level cache. */
const DEPTH_BLOCK: i32 = 320;

/**
 * Tile: a block of C of one batch item. Parameters: packed A, packed B, their bytes from batch item to batch item; C,
 * its row and batch strides in elements; M, N, K; block rows, block columns, blocks across, blocks a batch item;
 * alpha, accumulate; panel heights and widths (6 and 8, or 4 and 16).
 */
export function gemmTile(args: usize, tile: i32, scratch: usize): void {
  const blockRows = intArg(args, 10);
  const blockColumns = intArg(args, 11);
  const blocksAcross = intArg(args, 12);
  const blocks = intArg(args, 13);
  const rows = intArg(args, 7);
  const columns = intArg(args, 8);

  const batch = tile / blocks;
  const block = tile % blocks;
  const firstRow = (block / blocksAcross) * blockRows;
  const firstColumn = (block % blocksAcross) * blockColumns;
  multiplyBlock(
    pointerArg(args, 0) + <usize>batch * intArg(args, 2),
    pointerArg(args, 1) + <usize>batch * intArg(args, 3),
    pointerArg(args, 4) + <usize>batch * intArg(args, 6) * 4,
    args,
    firstRow,
    min(rows, firstRow + blockRows),
    firstColumn,
    min(columns, firstColumn + blockColumns),
    scratch,
  );
}

function multiplyBlock(
  a: usize, b: usize, c: usize, args: usize, firstRow: i32, lastRow: i32, firstColumn: i32, lastColumn: i32,
  scratch: usize,
): void {
  const cRow = <usize>intArg(args, 5) * 4;
  const depth = intArg(args, 9);
  const alpha = f32x4.splat(floatArg(args, 14));
  const accumulate = intArg(args, 15) != 0;
  const height = intArg(args, 16);
  const width = intArg(args, 17);
  for (let from = 0; from < depth; from += DEPTH_BLOCK) {
    const steps = min(DEPTH_BLOCK, depth - from);
    const add = accumulate || from > 0;
    for (let column = firstColumn; column < lastColumn; column += width) {
      const bPanel = b + (<usize>column * depth + from * width) * 4;
      for (let row = firstRow; row < lastRow; row += height) {
        const aPanel = a + (<usize>row * depth + from * height) * 4;
        const target = c + <usize>row * cRow + (<usize>column << 2);
        const whole = row + height <= lastRow && column + width <= lastColumn;
        if (whole) {
          multiplyPanels(aPanel, bPanel, steps, target, cRow, alpha, add, width);
        } else {
          // The panels are padded with zeros, C is not: compute beside it, then move what exists.
          multiplyPanels(aPanel, bPanel, steps, scratch, <usize>width * 4, alpha, false, width);
          const height0 = min(height, lastRow - row);
          moveEdge(scratch, <usize>width * 4, target, cRow, height0, min(width, lastColumn - column), add);
        }
      }
    }
  }
}

// @ts-ignore: decorator
@inline
function multiplyPanels(
  a: usize, b: usize, depth: i32, c: usize, cRow: usize, alpha: v128, add: bool, width: i32,
): void {
  if (width == 8) micro6x8(a, b, depth, c, cRow, alpha, add);
  else micro4x16(a, b, depth, c, cRow, alpha, add);
}

function moveEdge(from: usize, fromRow: usize, to: usize, toRow: usize, rows: i32, columns: i32, add: bool): void {
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const offset = <usize>column << 2;
      const value = load<f32>(from + <usize>row * fromRow + offset);
      const place = to + <usize>row * toRow + offset;
      store<f32>(place, add ? load<f32>(place) + value : value);
    }
  }
}

// @ts-ignore: decorator
@inline
function storeFour(c: usize, alpha: v128, add: bool, value: v128): void {
  const scaled = f32x4.mul(alpha, value);
  v128.store(c, add ? f32x4.add(v128.load(c), scaled) : scaled);
}

// @ts-ignore: decorator
@inline
function storeRow2(c: usize, alpha: v128, add: bool, v0: v128, v1: v128): void {
  storeFour(c, alpha, add, v0);
  storeFour(c + 16, alpha, add, v1);
}

// @ts-ignore: decorator
@inline
function storeRow4(c: usize, alpha: v128, add: bool, v0: v128, v1: v128, v2: v128, v3: v128): void {
  storeRow2(c, alpha, add, v0, v1);
  storeRow2(c + 32, alpha, add, v2, v3);
}

/** Six rows by eight columns: twelve accumulators, two of B and one of A fill the 15 registers that V8 has. */
function micro6x8(a: usize, b: usize, depth: i32, c: usize, cRow: usize, alpha: v128, add: bool): void {
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
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const a0 = v128.load32_splat(a);
    c00 = f32x4.relaxed_madd(a0, b0, c00);
    c01 = f32x4.relaxed_madd(a0, b1, c01);
    const a1 = v128.load32_splat(a, 4);
    c10 = f32x4.relaxed_madd(a1, b0, c10);
    c11 = f32x4.relaxed_madd(a1, b1, c11);
    const a2 = v128.load32_splat(a, 8);
    c20 = f32x4.relaxed_madd(a2, b0, c20);
    c21 = f32x4.relaxed_madd(a2, b1, c21);
    const a3 = v128.load32_splat(a, 12);
    c30 = f32x4.relaxed_madd(a3, b0, c30);
    c31 = f32x4.relaxed_madd(a3, b1, c31);
    const a4 = v128.load32_splat(a, 16);
    c40 = f32x4.relaxed_madd(a4, b0, c40);
    c41 = f32x4.relaxed_madd(a4, b1, c41);
    const a5 = v128.load32_splat(a, 20);
    c50 = f32x4.relaxed_madd(a5, b0, c50);
    c51 = f32x4.relaxed_madd(a5, b1, c51);
    a += 24;
    b += 32;
  }
  storeRow2(c, alpha, add, c00, c01);
  storeRow2(c + cRow, alpha, add, c10, c11);
  storeRow2(c + 2 * cRow, alpha, add, c20, c21);
  storeRow2(c + 3 * cRow, alpha, add, c30, c31);
  storeRow2(c + 4 * cRow, alpha, add, c40, c41);
  storeRow2(c + 5 * cRow, alpha, add, c50, c51);
}

/** Four rows by sixteen columns: for V8's revectorizer, which makes 256-bit operations of neighbouring pairs. */
function micro4x16(a: usize, b: usize, depth: i32, c: usize, cRow: usize, alpha: v128, add: bool): void {
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
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const b2 = v128.load(b, 32);
    const b3 = v128.load(b, 48);
    const a0 = v128.load32_splat(a);
    c00 = f32x4.relaxed_madd(a0, b0, c00);
    c01 = f32x4.relaxed_madd(a0, b1, c01);
    c02 = f32x4.relaxed_madd(a0, b2, c02);
    c03 = f32x4.relaxed_madd(a0, b3, c03);
    const a1 = v128.load32_splat(a, 4);
    c10 = f32x4.relaxed_madd(a1, b0, c10);
    c11 = f32x4.relaxed_madd(a1, b1, c11);
    c12 = f32x4.relaxed_madd(a1, b2, c12);
    c13 = f32x4.relaxed_madd(a1, b3, c13);
    const a2 = v128.load32_splat(a, 8);
    c20 = f32x4.relaxed_madd(a2, b0, c20);
    c21 = f32x4.relaxed_madd(a2, b1, c21);
    c22 = f32x4.relaxed_madd(a2, b2, c22);
    c23 = f32x4.relaxed_madd(a2, b3, c23);
    const a3 = v128.load32_splat(a, 12);
    c30 = f32x4.relaxed_madd(a3, b0, c30);
    c31 = f32x4.relaxed_madd(a3, b1, c31);
    c32 = f32x4.relaxed_madd(a3, b2, c32);
    c33 = f32x4.relaxed_madd(a3, b3, c33);
    a += 16;
    b += 64;
  }
  storeRow4(c, alpha, add, c00, c01, c02, c03);
  storeRow4(c + cRow, alpha, add, c10, c11, c12, c13);
  storeRow4(c + 2 * cRow, alpha, add, c20, c21, c22, c23);
  storeRow4(c + 3 * cRow, alpha, add, c30, c31, c32, c33);
}
