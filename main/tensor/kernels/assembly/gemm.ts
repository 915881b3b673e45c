/**
 * The matrix product C = alpha·A·B (+ C) over packed panels (gemm-pack.ts); an A that is contiguous along K is read as it
 * lies. A tile is a block of C; a micro-kernel holds a small part of it in registers for up to DEPTH_BLOCK steps along
 * K. Every cell of C is summed along K in the same order whatever the tile, the micro-kernel or the thread, so all of them
 * give the same bits. Products of few rows by other kernels may not: gemm-rows.ts where K is longer than DEPTH_BLOCK,
 * gemm-dot.ts at any K.
 */
import { unpacked4x16, unpacked6x8 } from './gemm-rows';
import { floatArg, intArg, madd, pointerArg, putFour } from './simd';

/** Maximum steps along K between visits to C: panels of this depth stay near the first-level cache. */
const DEPTH_BLOCK: i32 = 576;

/**
 * Tile: a block of C of one batch item. Parameters: packed A, packed B, their bytes from batch item to batch item; C,
 * its row and batch strides in elements; M, N, K; block rows, block columns, blocks across, blocks a batch item;
 * alpha, accumulate; the panels' height and width (6 and 8, or 4 and 16); row stride of an unpacked A, or 0.
 */
export function gemmTile(args: usize, tile: i32, scratch: usize): void {
  const blockRows = intArg(args, 10);
  const blockColumns = intArg(args, 11);
  const blocksAcross = intArg(args, 12);
  const blocks = intArg(args, 13);
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
    min(intArg(args, 7), firstRow + blockRows),
    firstColumn,
    min(intArg(args, 8), firstColumn + blockColumns),
    scratch,
  );
}

function multiplyBlock(
  a: usize, b: usize, c: usize, args: usize, firstRow: i32, lastRow: i32, firstColumn: i32, lastColumn: i32,
  product: usize,
): void {
  const cRow = <usize>intArg(args, 5) * 4;
  const depth = intArg(args, 9);
  const alpha = floatArg(args, 14);
  const accumulate = intArg(args, 15) != 0;
  const height = intArg(args, 16);
  const width = intArg(args, 17);
  const aRow = <usize>intArg(args, 18) << 2;
  const parts = (depth + DEPTH_BLOCK - 1) / DEPTH_BLOCK;
  const part = (depth + parts - 1) / max(1, parts);
  for (let from = 0; from < depth; from += part) {
    const steps = min(part, depth - from);
    const add = accumulate || from > 0;
    for (let column = firstColumn; column < lastColumn; column += width) {
      const bPanel = b + (<usize>column * depth + from * width) * 4;
      const columns = min(width, lastColumn - column);
      for (let row = firstRow; row < lastRow; row += height) {
        const rows = min(height, lastRow - row);
        const target = c + <usize>row * cRow + (<usize>column << 2);
        const aPanel = aRow != 0 ? a + <usize>row * aRow + (<usize>from << 2) : a + (<usize>row * depth + from * height) * 4;
        if (width == 16) {
          if (aRow != 0) unpacked4x16(bPanel, aPanel, aRow, rows, steps, product);
          else micro4x16(aPanel, bPanel, steps, product);
        } else {
          if (aRow != 0) unpacked6x8(bPanel, aPanel, aRow, rows, steps, product);
          else micro6x8(aPanel, bPanel, steps, product);
        }
        mergeBlock(product, width, rows, columns, target, cRow, alpha, add);
      }
    }
  }
}

/** Stores a micro-kernel's block of `width` columns into C. */
export function mergeBlock(
  block: usize, width: i32, rows: i32, columns: i32, to: usize, toRow: usize, alpha: f32, add: bool,
): void {
  if (columns < width) mergeEdge(block, <usize>width << 2, rows, columns, to, toRow, alpha, add);
  else if (width == 16) merge16(block, rows, to, toRow, alpha, add);
  else merge8(block, rows, to, toRow, alpha, add);
}

// If this were part of the micro-kernels, V8's register allocator would spill their
// accumulators inside the loop, at a cost of up to a third.

function merge8(from: usize, rows: i32, to: usize, toRow: usize, alpha: f32, add: bool): void {
  for (let row = 0; row < rows; row++) {
    mergeFour(from, to, alpha, add);
    mergeFour(from + 16, to + 16, alpha, add);
    from += 32;
    to += toRow;
  }
}

function merge16(from: usize, rows: i32, to: usize, toRow: usize, alpha: f32, add: bool): void {
  for (let row = 0; row < rows; row++) {
    mergeFour(from, to, alpha, add);
    mergeFour(from + 16, to + 16, alpha, add);
    mergeFour(from + 32, to + 32, alpha, add);
    mergeFour(from + 48, to + 48, alpha, add);
    from += 64;
    to += toRow;
  }
}

// @ts-ignore: decorator
@inline
function mergeFour(from: usize, to: usize, alpha: f32, add: bool): void {
  putFour(to, v128.load(from), alpha, add);
}

function mergeEdge(
  from: usize, fromRow: usize, rows: i32, columns: i32, to: usize, toRow: usize, alpha: f32, add: bool,
): void {
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const offset = <usize>column << 2;
      const scaled = alpha * load<f32>(from + offset);
      store<f32>(to + offset, add ? load<f32>(to + offset) + scaled : scaled);
    }
    from += fromRow;
    to += toRow;
  }
}

/** Six rows by eight columns: twelve accumulators, two of B and one of A fill the 15 registers that V8 has. */
function micro6x8(a: usize, b: usize, depth: i32, block: usize): void {
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
    c00 = madd(a0, b0, c00);
    c01 = madd(a0, b1, c01);
    const a1 = v128.load32_splat(a, 4);
    c10 = madd(a1, b0, c10);
    c11 = madd(a1, b1, c11);
    const a2 = v128.load32_splat(a, 8);
    c20 = madd(a2, b0, c20);
    c21 = madd(a2, b1, c21);
    const a3 = v128.load32_splat(a, 12);
    c30 = madd(a3, b0, c30);
    c31 = madd(a3, b1, c31);
    const a4 = v128.load32_splat(a, 16);
    c40 = madd(a4, b0, c40);
    c41 = madd(a4, b1, c41);
    const a5 = v128.load32_splat(a, 20);
    c50 = madd(a5, b0, c50);
    c51 = madd(a5, b1, c51);
    a += 24;
    b += 32;
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

/** Four rows by sixteen columns, for V8's revectorizer, which makes 256-bit operations of neighbouring pairs. */
function micro4x16(a: usize, b: usize, depth: i32, block: usize): void {
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
    c00 = madd(a0, b0, c00);
    c01 = madd(a0, b1, c01);
    c02 = madd(a0, b2, c02);
    c03 = madd(a0, b3, c03);
    const a1 = v128.load32_splat(a, 4);
    c10 = madd(a1, b0, c10);
    c11 = madd(a1, b1, c11);
    c12 = madd(a1, b2, c12);
    c13 = madd(a1, b3, c13);
    const a2 = v128.load32_splat(a, 8);
    c20 = madd(a2, b0, c20);
    c21 = madd(a2, b1, c21);
    c22 = madd(a2, b2, c22);
    c23 = madd(a2, b3, c23);
    const a3 = v128.load32_splat(a, 12);
    c30 = madd(a3, b0, c30);
    c31 = madd(a3, b1, c31);
    c32 = madd(a3, b2, c32);
    c33 = madd(a3, b3, c33);
    a += 16;
    b += 64;
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
