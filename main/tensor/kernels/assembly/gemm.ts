/**
 * The matrix product C = alpha·A·B (+ C) over packed panels (gemm-pack.ts); an A that is contiguous along K is read as it
 * lies. A tile is a block of C; a micro-kernel holds a small part of it in registers for up to DEPTH_BLOCK steps along
 * K. Every cell of C is summed along K in the same order whatever the tile, the micro-kernel or the thread, so all of them
 * give the same bits. Products of few rows by other kernels may not: gemm-rows.ts where K is longer than DEPTH_BLOCK,
 * gemm-dot.ts at any K.
 */
import { unpacked4x16, unpacked6x8 } from './gemm-rows';
import { block4x16, block6x8 } from './micro';
import { floatArg, intArg, pointerArg, putFour, putOne } from './simd';

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

// If this were part of the micro-kernels, V8's register allocator would spill their sums inside the loop, at a cost of
// up to a third. One loop for both widths takes 1.15 of the time where K is 16.

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
      putOne(to + offset, load<f32>(from + offset), alpha, add);
    }
    from += fromRow;
    to += toRow;
  }
}

/** Of a packed A. */
function micro6x8(a: usize, b: usize, depth: i32, block: usize): void {
  block6x8(b, a, a + 4, a + 8, a + 12, a + 16, a + 20, 24, depth, block);
}

function micro4x16(a: usize, b: usize, depth: i32, block: usize): void {
  block4x16(b, false, 0, 64, a, a + 4, a + 8, a + 12, 16, depth, block, block + 64, block + 128, block + 192, false);
}
