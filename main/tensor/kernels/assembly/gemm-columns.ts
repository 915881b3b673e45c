/**
 * The matrix product C = alpha·A·B (+ C) for up to some hundred rows of A, contiguous along K: a decoding step of many
 * sequences, or a tile of logits. A tile packs the columns of B that it needs where they stay in the first-level cache,
 * and reads A as it lies: nothing is packed beforehand, and packed weights never go through memory. The sums along K
 * have the order of gemm.ts, so the bits are the same.
 */
import { mergeBlock } from './gemm';
import { packColumns } from './gemm-pack';
import { BLOCK, unpacked4x16, unpacked6x8 } from './gemm-rows';
import { floatArg, intArg, pointerArg } from './simd';
import { widenLines } from './widen';

/**
 * Tile: a range of columns of C. Parameters: A, its row stride; B, its strides between columns and along K; C, its row
 * stride (elements); M, N, K; columns a tile; alpha, accumulate; a micro-kernel's rows and columns (6 and 8, or 4 and 16);
 * whether B is bfloat16.
 */
export function gemmColumns(args: usize, tile: i32, scratch: usize): void {
  const a = pointerArg(args, 0);
  const aRow = <usize>intArg(args, 1) << 2;
  const isHalf = intArg(args, 15) != 0;
  const columnStride = <usize>intArg(args, 3) << (isHalf ? 1 : 2);
  const depthStride = <usize>intArg(args, 4) << (isHalf ? 1 : 2);
  const cRow = <usize>intArg(args, 6) << 2;
  const rows = intArg(args, 7);
  const depth = intArg(args, 9);
  const span = intArg(args, 10);
  const alpha = floatArg(args, 11);
  const add = intArg(args, 12) != 0;
  const height = intArg(args, 13);
  const width = intArg(args, 14);
  const first = tile * span;
  const columns = min(span, intArg(args, 8) - first);
  const panels = scratch + BLOCK;
  const panelBytes = (<usize>width << 2) * depth;
  const b = pointerArg(args, 2) + <usize>first * columnStride;
  for (let column = 0; column < columns; column += width) {
    const to = panels + <usize>(column / width) * panelBytes;
    const from = b + <usize>column * columnStride;
    const count = min(width, columns - column);
    if (isHalf) packHalf(from, columnStride, depthStride, to, count, width, depth, to + panelBytes);
    else packColumns(from, columnStride, depthStride, to, count, width, depth);
  }
  const c = pointerArg(args, 5) + (<usize>first << 2);
  for (let row = 0; row < rows; row += height) {
    const from = a + <usize>row * aRow;
    const count = min(height, rows - row);
    let panel = panels;
    for (let column = 0; column < columns; column += width) {
      if (width == 16) unpacked4x16(panel, from, aRow, count, depth, scratch);
      else unpacked6x8(panel, from, aRow, count, depth, scratch);
      mergeBlock(scratch, width, count, min(width, columns - column), c + <usize>row * cRow + (<usize>column << 2), cRow, alpha, add);
      panel += panelBytes;
    }
  }
}

/** Packs one panel of bfloat16 columns, widened in `wide`, which holds a panel. */
function packHalf(
  from: usize, columnStride: usize, depthStride: usize, to: usize, count: i32, width: i32, depth: i32, wide: usize,
): void {
  if (depthStride == 2) {
    widenLines(from, columnStride, count, depth, wide);
    packColumns(wide, <usize>depth << 2, 4, to, count, width, depth);
  } else {
    widenLines(from, depthStride, depth, count, wide);
    packColumns(wide, 4, <usize>count << 2, to, count, width, depth);
  }
}
