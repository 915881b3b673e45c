/**
 * The micro-kernels of matrix products and of attention: x[rows][count] · b[count][columns], in registers while `count`
 * steps are summed. Eight or more sums in flight hide that a multiplication takes four cycles. Rows of x and y may lie
 * anywhere; `xStep` and `bStep` are the bytes from one step to the next. Every cell is summed in the same order, so all
 * of them give the same bits. Inlined, so that `add`, `split` and constant steps cost nothing in the loop.
 */
import { madd } from './simd';

/**
 * Four rows by sixteen columns, for V8's revectorizer, which makes 256-bit operations of neighbouring pairs. Where b is
 * `split`, its second eight columns lie `gap` bytes after the first; otherwise next to them. Adds to y or overwrites it.
 */
// @ts-ignore: decorator
@inline
export function block4x16(
  b: usize, split: bool, gap: usize, bStep: usize, x0: usize, x1: usize, x2: usize, x3: usize, xStep: usize, count: i32,
  y0: usize, y1: usize, y2: usize, y3: usize, add: bool,
): void {
  let s00 = add ? v128.load(y0) : f32x4.splat(0);
  let s01 = add ? v128.load(y0, 16) : f32x4.splat(0);
  let s02 = add ? v128.load(y0, 32) : f32x4.splat(0);
  let s03 = add ? v128.load(y0, 48) : f32x4.splat(0);
  let s10 = add ? v128.load(y1) : f32x4.splat(0);
  let s11 = add ? v128.load(y1, 16) : f32x4.splat(0);
  let s12 = add ? v128.load(y1, 32) : f32x4.splat(0);
  let s13 = add ? v128.load(y1, 48) : f32x4.splat(0);
  let s20 = add ? v128.load(y2) : f32x4.splat(0);
  let s21 = add ? v128.load(y2, 16) : f32x4.splat(0);
  let s22 = add ? v128.load(y2, 32) : f32x4.splat(0);
  let s23 = add ? v128.load(y2, 48) : f32x4.splat(0);
  let s30 = add ? v128.load(y3) : f32x4.splat(0);
  let s31 = add ? v128.load(y3, 16) : f32x4.splat(0);
  let s32 = add ? v128.load(y3, 32) : f32x4.splat(0);
  let s33 = add ? v128.load(y3, 48) : f32x4.splat(0);
  const end = x0 + <usize>count * xStep;
  while (x0 < end) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const b2 = split ? v128.load(b + gap) : v128.load(b, 32);
    const b3 = split ? v128.load(b + gap, 16) : v128.load(b, 48);
    let x = v128.load32_splat(x0);
    s00 = madd(x, b0, s00);
    s01 = madd(x, b1, s01);
    s02 = madd(x, b2, s02);
    s03 = madd(x, b3, s03);
    x = v128.load32_splat(x1);
    s10 = madd(x, b0, s10);
    s11 = madd(x, b1, s11);
    s12 = madd(x, b2, s12);
    s13 = madd(x, b3, s13);
    x = v128.load32_splat(x2);
    s20 = madd(x, b0, s20);
    s21 = madd(x, b1, s21);
    s22 = madd(x, b2, s22);
    s23 = madd(x, b3, s23);
    x = v128.load32_splat(x3);
    s30 = madd(x, b0, s30);
    s31 = madd(x, b1, s31);
    s32 = madd(x, b2, s32);
    s33 = madd(x, b3, s33);
    b += bStep;
    x0 += xStep;
    x1 += xStep;
    x2 += xStep;
    x3 += xStep;
  }
  v128.store(y0, s00);
  v128.store(y0, s01, 16);
  v128.store(y0, s02, 32);
  v128.store(y0, s03, 48);
  v128.store(y1, s10);
  v128.store(y1, s11, 16);
  v128.store(y1, s12, 32);
  v128.store(y1, s13, 48);
  v128.store(y2, s20);
  v128.store(y2, s21, 16);
  v128.store(y2, s22, 32);
  v128.store(y2, s23, 48);
  v128.store(y3, s30);
  v128.store(y3, s31, 16);
  v128.store(y3, s32, 32);
  v128.store(y3, s33, 48);
}

/** Four rows by eight columns; adds to y or overwrites it. */
// @ts-ignore: decorator
@inline
export function block4x8(
  b: usize, bStep: usize, x0: usize, x1: usize, x2: usize, x3: usize, xStep: usize, count: i32,
  y0: usize, y1: usize, y2: usize, y3: usize, add: bool,
): void {
  let s00 = add ? v128.load(y0) : f32x4.splat(0);
  let s01 = add ? v128.load(y0, 16) : f32x4.splat(0);
  let s10 = add ? v128.load(y1) : f32x4.splat(0);
  let s11 = add ? v128.load(y1, 16) : f32x4.splat(0);
  let s20 = add ? v128.load(y2) : f32x4.splat(0);
  let s21 = add ? v128.load(y2, 16) : f32x4.splat(0);
  let s30 = add ? v128.load(y3) : f32x4.splat(0);
  let s31 = add ? v128.load(y3, 16) : f32x4.splat(0);
  const end = x0 + <usize>count * xStep;
  while (x0 < end) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    let x = v128.load32_splat(x0);
    s00 = madd(x, b0, s00);
    s01 = madd(x, b1, s01);
    x = v128.load32_splat(x1);
    s10 = madd(x, b0, s10);
    s11 = madd(x, b1, s11);
    x = v128.load32_splat(x2);
    s20 = madd(x, b0, s20);
    s21 = madd(x, b1, s21);
    x = v128.load32_splat(x3);
    s30 = madd(x, b0, s30);
    s31 = madd(x, b1, s31);
    b += bStep;
    x0 += xStep;
    x1 += xStep;
    x2 += xStep;
    x3 += xStep;
  }
  v128.store(y0, s00);
  v128.store(y0, s01, 16);
  v128.store(y1, s10);
  v128.store(y1, s11, 16);
  v128.store(y2, s20);
  v128.store(y2, s21, 16);
  v128.store(y3, s30);
  v128.store(y3, s31, 16);
}

/**
 * Six rows by eight columns of a packed b, into a block [6][8]: twelve sums, two vectors of b and one of x fill the 15
 * registers that V8 has.
 */
// @ts-ignore: decorator
@inline
export function block6x8(
  b: usize, x0: usize, x1: usize, x2: usize, x3: usize, x4: usize, x5: usize, xStep: usize, count: i32, block: usize,
): void {
  let s00 = f32x4.splat(0);
  let s01 = f32x4.splat(0);
  let s10 = f32x4.splat(0);
  let s11 = f32x4.splat(0);
  let s20 = f32x4.splat(0);
  let s21 = f32x4.splat(0);
  let s30 = f32x4.splat(0);
  let s31 = f32x4.splat(0);
  let s40 = f32x4.splat(0);
  let s41 = f32x4.splat(0);
  let s50 = f32x4.splat(0);
  let s51 = f32x4.splat(0);
  const end = x0 + <usize>count * xStep;
  while (x0 < end) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    let x = v128.load32_splat(x0);
    s00 = madd(x, b0, s00);
    s01 = madd(x, b1, s01);
    x = v128.load32_splat(x1);
    s10 = madd(x, b0, s10);
    s11 = madd(x, b1, s11);
    x = v128.load32_splat(x2);
    s20 = madd(x, b0, s20);
    s21 = madd(x, b1, s21);
    x = v128.load32_splat(x3);
    s30 = madd(x, b0, s30);
    s31 = madd(x, b1, s31);
    x = v128.load32_splat(x4);
    s40 = madd(x, b0, s40);
    s41 = madd(x, b1, s41);
    x = v128.load32_splat(x5);
    s50 = madd(x, b0, s50);
    s51 = madd(x, b1, s51);
    b += 32;
    x0 += xStep;
    x1 += xStep;
    x2 += xStep;
    x3 += xStep;
    x4 += xStep;
    x5 += xStep;
  }
  v128.store(block, s00);
  v128.store(block, s01, 16);
  v128.store(block, s10, 32);
  v128.store(block, s11, 48);
  v128.store(block, s20, 64);
  v128.store(block, s21, 80);
  v128.store(block, s30, 96);
  v128.store(block, s31, 112);
  v128.store(block, s40, 128);
  v128.store(block, s41, 144);
  v128.store(block, s50, 160);
  v128.store(block, s51, 176);
}
