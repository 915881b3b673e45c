/**
 * The products of attention, for four rows (queries) or four keys at a time. Micro-kernels of sixteen columns keep eight
 * sums of eight floats in flight, which hides that a multiplication takes four cycles; those of eight columns do what is
 * left over. Every cell is summed in the same order either way.
 */
import { SCORE_STRIDE } from './blocks';
import { madd } from './simd';

/** score[4][count] = a[4][d] · panels[d][count]; the rows of a are contiguous, `count` keys are whole panels of eight. */
export function scoreKeys(a: usize, panels: usize, d: i32, count: i32, score: usize): void {
  const panelBytes = (<usize>d) << 5;
  let key = 0;
  for (; key + 16 <= count; key += 16) {
    scores4x16(a, panels, d, score);
    panels += panelBytes << 1;
    score += 64;
  }
  if (key < count) scores4x8(a, panels, d, score);
}

/** y[4][d] += score[4][count] · b[count][d] for four rows y0 … y3. */
export function addValues(score: usize, count: i32, b: usize, d: i32, y0: usize, y1: usize, y2: usize, y3: usize): void {
  addLines(score, SCORE_STRIDE, 4, count, b, d, y0, y1, y2, y3);
}

/** y[4][d] += score[count][4]ᵀ · b[count][d] for four neighbouring keys, which gather from `count` rows. */
export function addFromRows(score: usize, count: i32, b: usize, d: i32, y: usize): void {
  const rowBytes = (<usize>d) << 2;
  addLines(score, 4, SCORE_STRIDE, count, b, d, y, y + rowBytes, y + 2 * rowBytes, y + 3 * rowBytes);
}

/**
 * y[4][d] += x[4][count] · b[count][d]: `line` bytes of x from line to line, `step` from one of the `count` to the next.
 */
function addLines(
  x: usize,
  line: usize,
  step: usize,
  count: i32,
  b: usize,
  d: i32,
  y0: usize,
  y1: usize,
  y2: usize,
  y3: usize,
): void {
  const rowBytes = (<usize>d) << 2;
  let c: usize = 0;
  for (; c + 64 <= rowBytes; c += 64) add4x16(x, line, step, count, b + c, rowBytes, y0 + c, y1 + c, y2 + c, y3 + c);
  if (c < rowBytes) add4x8(x, line, step, count, b + c, rowBytes, y0 + c, y1 + c, y2 + c, y3 + c);
}

/** score[4][8] = a[4][d] · panel[d][8]; the rows of a are contiguous. */
function scores4x8(a: usize, panel: usize, d: i32, score: usize): void {
  const rowBytes = <usize>d << 2;
  let a1 = a + rowBytes;
  let a2 = a1 + rowBytes;
  let a3 = a2 + rowBytes;
  let s00 = f32x4.splat(0);
  let s01 = f32x4.splat(0);
  let s10 = f32x4.splat(0);
  let s11 = f32x4.splat(0);
  let s20 = f32x4.splat(0);
  let s21 = f32x4.splat(0);
  let s30 = f32x4.splat(0);
  let s31 = f32x4.splat(0);
  const end = a1;
  while (a < end) {
    let b0 = v128.load(panel);
    let b1 = v128.load(panel, 16);
    let x = v128.load32_splat(a);
    s00 = madd(x, b0, s00);
    s01 = madd(x, b1, s01);
    x = v128.load32_splat(a1);
    s10 = madd(x, b0, s10);
    s11 = madd(x, b1, s11);
    x = v128.load32_splat(a2);
    s20 = madd(x, b0, s20);
    s21 = madd(x, b1, s21);
    x = v128.load32_splat(a3);
    s30 = madd(x, b0, s30);
    s31 = madd(x, b1, s31);

    b0 = v128.load(panel, 32);
    b1 = v128.load(panel, 48);
    x = v128.load32_splat(a, 4);
    s00 = madd(x, b0, s00);
    s01 = madd(x, b1, s01);
    x = v128.load32_splat(a1, 4);
    s10 = madd(x, b0, s10);
    s11 = madd(x, b1, s11);
    x = v128.load32_splat(a2, 4);
    s20 = madd(x, b0, s20);
    s21 = madd(x, b1, s21);
    x = v128.load32_splat(a3, 4);
    s30 = madd(x, b0, s30);
    s31 = madd(x, b1, s31);

    panel += 64;
    a += 8;
    a1 += 8;
    a2 += 8;
    a3 += 8;
  }
  v128.store(score, s00);
  v128.store(score, s01, 16);
  v128.store(score, s10, 256);
  v128.store(score, s11, 272);
  v128.store(score, s20, 512);
  v128.store(score, s21, 528);
  v128.store(score, s30, 768);
  v128.store(score, s31, 784);
}

/** scores4x8 of two neighbouring panels at once: score[4][16]. */
function scores4x16(a: usize, panel: usize, d: i32, score: usize): void {
  const rowBytes = <usize>d << 2;
  let a1 = a + rowBytes;
  let a2 = a1 + rowBytes;
  let a3 = a2 + rowBytes;
  let next = panel + (rowBytes << 3);
  let s00 = f32x4.splat(0);
  let s01 = f32x4.splat(0);
  let s02 = f32x4.splat(0);
  let s03 = f32x4.splat(0);
  let s10 = f32x4.splat(0);
  let s11 = f32x4.splat(0);
  let s12 = f32x4.splat(0);
  let s13 = f32x4.splat(0);
  let s20 = f32x4.splat(0);
  let s21 = f32x4.splat(0);
  let s22 = f32x4.splat(0);
  let s23 = f32x4.splat(0);
  let s30 = f32x4.splat(0);
  let s31 = f32x4.splat(0);
  let s32 = f32x4.splat(0);
  let s33 = f32x4.splat(0);
  const end = a1;
  while (a < end) {
    const b0 = v128.load(panel);
    const b1 = v128.load(panel, 16);
    const b2 = v128.load(next);
    const b3 = v128.load(next, 16);
    let x = v128.load32_splat(a);
    s00 = madd(x, b0, s00);
    s01 = madd(x, b1, s01);
    s02 = madd(x, b2, s02);
    s03 = madd(x, b3, s03);
    x = v128.load32_splat(a1);
    s10 = madd(x, b0, s10);
    s11 = madd(x, b1, s11);
    s12 = madd(x, b2, s12);
    s13 = madd(x, b3, s13);
    x = v128.load32_splat(a2);
    s20 = madd(x, b0, s20);
    s21 = madd(x, b1, s21);
    s22 = madd(x, b2, s22);
    s23 = madd(x, b3, s23);
    x = v128.load32_splat(a3);
    s30 = madd(x, b0, s30);
    s31 = madd(x, b1, s31);
    s32 = madd(x, b2, s32);
    s33 = madd(x, b3, s33);
    panel += 32;
    next += 32;
    a += 4;
    a1 += 4;
    a2 += 4;
    a3 += 4;
  }
  v128.store(score, s00, 0);
  v128.store(score, s01, 16);
  v128.store(score, s02, 32);
  v128.store(score, s03, 48);
  v128.store(score, s10, 256);
  v128.store(score, s11, 272);
  v128.store(score, s12, 288);
  v128.store(score, s13, 304);
  v128.store(score, s20, 512);
  v128.store(score, s21, 528);
  v128.store(score, s22, 544);
  v128.store(score, s23, 560);
  v128.store(score, s30, 768);
  v128.store(score, s31, 784);
  v128.store(score, s32, 800);
  v128.store(score, s33, 816);
}

/** addLines at eight columns; the rows of b are `stride` bytes apart. */
function add4x8(
  score: usize,
  line: usize,
  step: usize,
  count: i32,
  b: usize,
  stride: usize,
  y0: usize,
  y1: usize,
  y2: usize,
  y3: usize,
): void {
  let s00 = v128.load(y0, 0);
  let s01 = v128.load(y0, 16);
  let s10 = v128.load(y1, 0);
  let s11 = v128.load(y1, 16);
  let s20 = v128.load(y2, 0);
  let s21 = v128.load(y2, 16);
  let s30 = v128.load(y3, 0);
  let s31 = v128.load(y3, 16);
  const end = score + <usize>count * step;
  let score1 = score + line;
  let score2 = score1 + line;
  let score3 = score2 + line;
  while (score < end) {
    const b0 = v128.load(b, 0);
    const b1 = v128.load(b, 16);
    let x = v128.load32_splat(score);
    s00 = madd(x, b0, s00);
    s01 = madd(x, b1, s01);
    x = v128.load32_splat(score1);
    s10 = madd(x, b0, s10);
    s11 = madd(x, b1, s11);
    x = v128.load32_splat(score2);
    s20 = madd(x, b0, s20);
    s21 = madd(x, b1, s21);
    x = v128.load32_splat(score3);
    s30 = madd(x, b0, s30);
    s31 = madd(x, b1, s31);
    b += stride;
    score += step;
    score1 += step;
    score2 += step;
    score3 += step;
  }
  v128.store(y0, s00, 0);
  v128.store(y0, s01, 16);
  v128.store(y1, s10, 0);
  v128.store(y1, s11, 16);
  v128.store(y2, s20, 0);
  v128.store(y2, s21, 16);
  v128.store(y3, s30, 0);
  v128.store(y3, s31, 16);
}

/** addLines at sixteen columns; the rows of b are `stride` bytes apart. */
function add4x16(
  score: usize,
  line: usize,
  step: usize,
  count: i32,
  b: usize,
  stride: usize,
  y0: usize,
  y1: usize,
  y2: usize,
  y3: usize,
): void {
  let s00 = v128.load(y0, 0);
  let s01 = v128.load(y0, 16);
  let s02 = v128.load(y0, 32);
  let s03 = v128.load(y0, 48);
  let s10 = v128.load(y1, 0);
  let s11 = v128.load(y1, 16);
  let s12 = v128.load(y1, 32);
  let s13 = v128.load(y1, 48);
  let s20 = v128.load(y2, 0);
  let s21 = v128.load(y2, 16);
  let s22 = v128.load(y2, 32);
  let s23 = v128.load(y2, 48);
  let s30 = v128.load(y3, 0);
  let s31 = v128.load(y3, 16);
  let s32 = v128.load(y3, 32);
  let s33 = v128.load(y3, 48);
  const end = score + <usize>count * step;
  let score1 = score + line;
  let score2 = score1 + line;
  let score3 = score2 + line;
  while (score < end) {
    const b0 = v128.load(b, 0);
    const b1 = v128.load(b, 16);
    const b2 = v128.load(b, 32);
    const b3 = v128.load(b, 48);
    let x = v128.load32_splat(score);
    s00 = madd(x, b0, s00);
    s01 = madd(x, b1, s01);
    s02 = madd(x, b2, s02);
    s03 = madd(x, b3, s03);
    x = v128.load32_splat(score1);
    s10 = madd(x, b0, s10);
    s11 = madd(x, b1, s11);
    s12 = madd(x, b2, s12);
    s13 = madd(x, b3, s13);
    x = v128.load32_splat(score2);
    s20 = madd(x, b0, s20);
    s21 = madd(x, b1, s21);
    s22 = madd(x, b2, s22);
    s23 = madd(x, b3, s23);
    x = v128.load32_splat(score3);
    s30 = madd(x, b0, s30);
    s31 = madd(x, b1, s31);
    s32 = madd(x, b2, s32);
    s33 = madd(x, b3, s33);
    b += stride;
    score += step;
    score1 += step;
    score2 += step;
    score3 += step;
  }
  v128.store(y0, s00, 0);
  v128.store(y0, s01, 16);
  v128.store(y0, s02, 32);
  v128.store(y0, s03, 48);
  v128.store(y1, s10, 0);
  v128.store(y1, s11, 16);
  v128.store(y1, s12, 32);
  v128.store(y1, s13, 48);
  v128.store(y2, s20, 0);
  v128.store(y2, s21, 16);
  v128.store(y2, s22, 32);
  v128.store(y2, s23, 48);
  v128.store(y3, s30, 0);
  v128.store(y3, s31, 16);
  v128.store(y3, s32, 32);
  v128.store(y3, s33, 48);
}
