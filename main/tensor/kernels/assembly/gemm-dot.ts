/**
 * The matrix product C = alpha·A·Bᵀ (+ C) for few rows of A, both operands contiguous along K: dot products, nothing
 * packed, B streamed once. This is generation: a handful of sequences against weights stored [out, in].
 */
import { floatArg, intArg, madd, pointerArg, putOne, sumLanes } from './simd';
import { widenLines } from './widen';

/**
 * Tile: a range of B's rows of one batch item. Parameters: A, its row and batch strides; B, its row and batch strides;
 * C, its row, column and batch strides (elements); M, N, K; rows of B a tile, tiles a batch item; alpha, accumulate;
 * whether B is bfloat16.
 */
export function gemmDot(args: usize, tile: i32, scratch: usize): void {
  const aRow = <usize>intArg(args, 1) * 4;
  const isHalf = intArg(args, 17) != 0;
  const bBytes: usize = isHalf ? 2 : 4;
  const bStride = <usize>intArg(args, 4) * bBytes;
  const cRow = <usize>intArg(args, 7) * 4;
  const cColumn = <usize>intArg(args, 8) * 4;
  const rows = intArg(args, 10);
  const depth = intArg(args, 12);
  const span = intArg(args, 13);
  const spans = intArg(args, 14);
  const alpha = floatArg(args, 15);
  const add = intArg(args, 16) != 0;

  const bRow = isHalf ? <usize>depth * 4 : bStride;
  const item = <usize>(tile / spans);
  const first = (tile % spans) * span;
  const last = min(intArg(args, 11), first + span);
  const a = pointerArg(args, 0) + item * intArg(args, 2) * 4;
  const b = pointerArg(args, 3) + item * intArg(args, 5) * bBytes;
  const c = pointerArg(args, 6) + item * intArg(args, 9) * 4;

  // B's rows in the outer loop: the few rows of one step stay in the first-level cache for all rows of A.
  let column = first;
  for (; column + 4 <= last; column += 4) {
    let bRows = b + <usize>column * bStride;
    if (isHalf) {
      widenLines(bRows, bStride, 4, depth, scratch);
      bRows = scratch;
    }
    const target = c + <usize>column * cColumn;
    let row = 0;
    for (; row + 4 <= rows; row += 4) {
      const aRows = a + <usize>row * aRow;
      const to = target + <usize>row * cRow;
      dot4x2(aRows, aRow, bRows, bRow, depth, to, cRow, cColumn, alpha, add);
      dot4x2(aRows, aRow, bRows + 2 * bRow, bRow, depth, to + 2 * cColumn, cRow, cColumn, alpha, add);
    }
    for (; row + 2 <= rows; row += 2) {
      dot2x4(a + <usize>row * aRow, aRow, bRows, bRow, depth, target + <usize>row * cRow, cRow, cColumn, alpha, add);
    }
    if (row < rows) dot1x4(a + <usize>row * aRow, bRows, bRow, depth, target + <usize>row * cRow, cColumn, alpha, add);
  }
  for (; column < last; column++) {
    let bRow0 = b + <usize>column * bStride;
    if (isHalf) {
      widenLines(bRow0, bStride, 1, depth, scratch);
      bRow0 = scratch;
    }
    for (let row = 0; row < rows; row++) {
      const to = c + <usize>row * cRow + <usize>column * cColumn;
      dot1x1(a + <usize>row * aRow, bRow0, depth, to, alpha, add);
    }
  }
}

// @ts-ignore: decorator
@inline
function product(a: usize, b: usize): f32 {
  return load<f32>(a) * load<f32>(b);
}

function dot4x2(
  a0: usize, aRow: usize, b0: usize, bRow: usize, depth: i32, c: usize, cRow: usize, cColumn: usize, alpha: f32,
  add: bool,
): void {
  let a1 = a0 + aRow;
  let a2 = a1 + aRow;
  let a3 = a2 + aRow;
  let b1 = b0 + bRow;
  let v00 = f32x4.splat(0);
  let v01 = f32x4.splat(0);
  let v10 = f32x4.splat(0);
  let v11 = f32x4.splat(0);
  let v20 = f32x4.splat(0);
  let v21 = f32x4.splat(0);
  let v30 = f32x4.splat(0);
  let v31 = f32x4.splat(0);
  const vectorEnd = b0 + (<usize>(depth & ~3) << 2);
  const end = b0 + (<usize>depth << 2);
  while (b0 < vectorEnd) {
    const x = v128.load(b0);
    const y = v128.load(b1);
    const r0 = v128.load(a0);
    v00 = madd(r0, x, v00);
    v01 = madd(r0, y, v01);
    const r1 = v128.load(a1);
    v10 = madd(r1, x, v10);
    v11 = madd(r1, y, v11);
    const r2 = v128.load(a2);
    v20 = madd(r2, x, v20);
    v21 = madd(r2, y, v21);
    const r3 = v128.load(a3);
    v30 = madd(r3, x, v30);
    v31 = madd(r3, y, v31);
    a0 += 16;
    a1 += 16;
    a2 += 16;
    a3 += 16;
    b0 += 16;
    b1 += 16;
  }
  let s00 = sumLanes(v00);
  let s01 = sumLanes(v01);
  let s10 = sumLanes(v10);
  let s11 = sumLanes(v11);
  let s20 = sumLanes(v20);
  let s21 = sumLanes(v21);
  let s30 = sumLanes(v30);
  let s31 = sumLanes(v31);
  while (b0 < end) {
    s00 += product(a0, b0);
    s01 += product(a0, b1);
    s10 += product(a1, b0);
    s11 += product(a1, b1);
    s20 += product(a2, b0);
    s21 += product(a2, b1);
    s30 += product(a3, b0);
    s31 += product(a3, b1);
    a0 += 4;
    a1 += 4;
    a2 += 4;
    a3 += 4;
    b0 += 4;
    b1 += 4;
  }
  putOne(c, s00, alpha, add);
  putOne(c + cColumn, s01, alpha, add);
  c += cRow;
  putOne(c, s10, alpha, add);
  putOne(c + cColumn, s11, alpha, add);
  c += cRow;
  putOne(c, s20, alpha, add);
  putOne(c + cColumn, s21, alpha, add);
  c += cRow;
  putOne(c, s30, alpha, add);
  putOne(c + cColumn, s31, alpha, add);
}

function dot2x4(
  a0: usize, aRow: usize, b0: usize, bRow: usize, depth: i32, c: usize, cRow: usize, cColumn: usize, alpha: f32,
  add: bool,
): void {
  // The same block with the operands' roles exchanged.
  dot4x2(b0, bRow, a0, aRow, depth, c, cColumn, cRow, alpha, add);
}

/** One row: two accumulators for each of four dot products hide the latency of the multiply-add. */
function dot1x4(a: usize, b0: usize, bRow: usize, depth: i32, c: usize, cColumn: usize, alpha: f32, add: bool): void {
  let b1 = b0 + bRow;
  let b2 = b1 + bRow;
  let b3 = b2 + bRow;
  let u0 = f32x4.splat(0);
  let u1 = f32x4.splat(0);
  let u2 = f32x4.splat(0);
  let u3 = f32x4.splat(0);
  let v0 = f32x4.splat(0);
  let v1 = f32x4.splat(0);
  let v2 = f32x4.splat(0);
  let v3 = f32x4.splat(0);
  const vectorEnd = a + (<usize>(depth & ~7) << 2);
  const end = a + (<usize>depth << 2);
  while (a < vectorEnd) {
    const x = v128.load(a);
    const y = v128.load(a, 16);
    u0 = madd(x, v128.load(b0), u0);
    v0 = madd(y, v128.load(b0, 16), v0);
    u1 = madd(x, v128.load(b1), u1);
    v1 = madd(y, v128.load(b1, 16), v1);
    u2 = madd(x, v128.load(b2), u2);
    v2 = madd(y, v128.load(b2, 16), v2);
    u3 = madd(x, v128.load(b3), u3);
    v3 = madd(y, v128.load(b3, 16), v3);
    a += 32;
    b0 += 32;
    b1 += 32;
    b2 += 32;
    b3 += 32;
  }
  let s0 = sumLanes(f32x4.add(u0, v0));
  let s1 = sumLanes(f32x4.add(u1, v1));
  let s2 = sumLanes(f32x4.add(u2, v2));
  let s3 = sumLanes(f32x4.add(u3, v3));
  while (a < end) {
    s0 += product(a, b0);
    s1 += product(a, b1);
    s2 += product(a, b2);
    s3 += product(a, b3);
    a += 4;
    b0 += 4;
    b1 += 4;
    b2 += 4;
    b3 += 4;
  }
  putOne(c, s0, alpha, add);
  putOne(c + cColumn, s1, alpha, add);
  putOne(c + 2 * cColumn, s2, alpha, add);
  putOne(c + 3 * cColumn, s3, alpha, add);
}

function dot1x1(a: usize, b: usize, depth: i32, c: usize, alpha: f32, add: bool): void {
  let v = f32x4.splat(0);
  const vectorEnd = a + (<usize>(depth & ~3) << 2);
  const end = a + (<usize>depth << 2);
  while (a < vectorEnd) {
    v = madd(v128.load(a), v128.load(b), v);
    a += 16;
    b += 16;
  }
  let sum = sumLanes(v);
  while (a < end) {
    sum += product(a, b);
    a += 4;
    b += 4;
  }
  putOne(c, sum, alpha, add);
}
