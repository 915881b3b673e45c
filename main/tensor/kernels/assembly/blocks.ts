/**
 * What the attention kernels do to one block of rows (queries) and one block of keys: packing and the
 * running softmax. A row is one query head of one token; d, the head width, divides by 8.
 */
import { packColumns } from './gemm-pack';
import { exp1, expBelow, log64, maxLanes, sumLanes } from './simd';

/** Rows of a block. */
export const ROWS: i32 = 64;
/** Keys of a block. */
export const KEYS: i32 = 64;
/** Bytes from one row of a score block to the next. */
export const SCORE_STRIDE: usize = 256;

/**
 * Packs `count` rows of `d` floats transposed, in panels of eight rows: target[panel][column][8]. Missing rows of the
 * last panel become zeros.
 */
export function packTransposed(source: usize, stride: usize, count: i32, d: i32, target: usize): void {
  for (let first = 0; first < count; first += 8) {
    packColumns(source + <usize>first * stride, stride, 4, target, min(8, count - first), 8, d);
    target += <usize>d << 5;
  }
}

/** Copies `count` rows of `d` floats next to each other, scaled. */
export function packRows(source: usize, stride: usize, count: i32, d: i32, scale: f32, target: usize): void {
  for (let row = 0; row < count; row++) {
    scaleInto(source, d, scale, target);
    source += stride;
    target += <usize>d << 2;
  }
}

/** target = source * scale over one row. */
// @ts-ignore: decorator
@inline
export function scaleInto(source: usize, d: i32, scale: f32, target: usize): void {
  const scale4 = f32x4.splat(scale);
  const end = source + (<usize>d << 2);
  while (source < end) {
    v128.store(target, f32x4.mul(v128.load(source), scale4));
    v128.store(target, f32x4.mul(v128.load(source, 16), scale4), 16);
    source += 32;
    target += 32;
  }
}

/**
 * Packs the rows of `tokens` tokens for one key/value head: its `group` query heads of each token are adjacent in
 * the source. Rows up to the next multiple of four become zeros.
 */
export function packQueries(source: usize, stride: usize, tokens: i32, group: i32, d: i32, scale: f32, target: usize): void {
  const rowBytes = <usize>d << 2;
  for (let token = 0; token < tokens; token++) {
    packRows(source, rowBytes, group, d, scale, target);
    source += stride;
    target += <usize>group * rowBytes;
  }
  const padding = -(tokens * group) & 3;
  memory.fill(target, 0, <usize>padding * rowBytes);
}

// Layout of the running softmax of a block of rows in a thread's scratch: queries [ROWS, d], the sums of values [ROWS, d],
// a packed key block and a value block [KEYS, d] each, scores [ROWS + 4, KEYS], per row the largest score and the softmax
// denominator so far, and a spare row.

/** Sums of weighted values, after the queries. */
// @ts-ignore: decorator
@inline
export function sumsIn(scratch: usize, d: i32): usize {
  return scratch + ((<usize>ROWS * <usize>d) << 2);
}

/** Packed keys. */
// @ts-ignore: decorator
@inline
export function keysIn(scratch: usize, d: i32): usize {
  return scratch + ((<usize>ROWS * <usize>d) << 3);
}

/** Packed values. */
// @ts-ignore: decorator
@inline
export function valuesIn(scratch: usize, d: i32): usize {
  return keysIn(scratch, d) + ((<usize>KEYS * <usize>d) << 2);
}

/** Scores. */
// @ts-ignore: decorator
@inline
export function scoresIn(scratch: usize, d: i32): usize {
  return keysIn(scratch, d) + ((<usize>KEYS * <usize>d) << 3);
}

/** Largest score of each row. */
// @ts-ignore: decorator
@inline
export function maximaIn(scratch: usize, d: i32): usize {
  return scoresIn(scratch, d) + <usize>(ROWS + 4) * SCORE_STRIDE;
}

/** Softmax denominator of each row. */
// @ts-ignore: decorator
@inline
export function denominatorsIn(scratch: usize, d: i32): usize {
  return maximaIn(scratch, d) + (<usize>ROWS << 2);
}

/** A spare row that absorbs the sums of padding rows. */
// @ts-ignore: decorator
@inline
export function spareIn(scratch: usize, d: i32): usize {
  return denominatorsIn(scratch, d) + ((<usize>ROWS) << 2);
}

/** Initialises `rows` rows for their first key block. */
export function startSoftmax(scratch: usize, rows: i32, d: i32): void {
  const padded = <usize>((rows + 3) & ~3);
  memory.fill(sumsIn(scratch, d), 0, (padded * <usize>d) << 2);
  memory.fill(denominatorsIn(scratch, d), 0, padded << 2);
  const maxima = maximaIn(scratch, d);
  for (let row: usize = 0; row < padded; row++) store<f32>(maxima + (row << 2), -f32.MAX_VALUE);
}

/**
 * Exponentiates a row's `visible` new scores relative to its largest score so far and rescales the sums accumulated
 * before. Scores from `visible` up to `padded` (a multiple of 4) become zeros. `table` comes
 * from expTable.
 */
export function softmaxRow(scratch: usize, row: i32, d: i32, visible: i32, padded: i32, table: usize): void {
  const score = scoresIn(scratch, d) + <usize>row * SCORE_STRIDE;
  const end = score + (<usize>padded << 2);
  for (let masked = visible; masked < padded; masked++) store<f32>(score + (<usize>masked << 2), -Infinity);
  const maxCell = maximaIn(scratch, d) + (<usize>row << 2);
  const before = load<f32>(maxCell);
  let largest4 = f32x4.splat(before);
  for (let p = score; p < end; p += 16) largest4 = f32x4.pmax(largest4, v128.load(p));
  const largest = maxLanes(largest4);
  const largestSplat = f32x4.splat(largest);
  let sum4 = f32x4.splat(0);
  let p = score;
  for (; p + 32 <= end; p += 32) {
    const a = expBelow(f32x4.sub(v128.load(p), largestSplat), table);
    const b = expBelow(f32x4.sub(v128.load(p, 16), largestSplat), table);
    v128.store(p, a);
    v128.store(p, b, 16);
    sum4 = f32x4.add(f32x4.add(sum4, a), b);
  }
  if (p < end) {
    const prob = expBelow(f32x4.sub(v128.load(p), largestSplat), table);
    v128.store(p, prob);
    sum4 = f32x4.add(sum4, prob);
  }
  const sumCell = denominatorsIn(scratch, d) + (<usize>row << 2);
  if (largest > before) {
    store<f32>(maxCell, largest);
    // Before the first block there is nothing to rescale.
    if (before == -f32.MAX_VALUE) return store<f32>(sumCell, sumLanes(sum4));
    const shrink = exp1(before - largest, table);
    const sums = sumsIn(scratch, d) + ((<usize>row * <usize>d) << 2);
    scaleInto(sums, d, shrink, sums);
    store<f32>(sumCell, load<f32>(sumCell) * shrink);
  }
  store<f32>(sumCell, load<f32>(sumCell) + sumLanes(sum4));
}

/** Divides a row's sums by its softmax denominator into `out`. */
export function finishRow(scratch: usize, row: i32, d: i32, out: usize): void {
  const denominator = load<f32>(denominatorsIn(scratch, d) + (<usize>row << 2));
  scaleInto(sumsIn(scratch, d) + ((<usize>row * <usize>d) << 2), d, <f32>1.0 / denominator, out);
}

/** A row's log-sum-exp. */
export function logSumExp(scratch: usize, row: i32, d: i32): f32 {
  const denominator = load<f32>(denominatorsIn(scratch, d) + (<usize>row << 2));
  return load<f32>(maximaIn(scratch, d) + (<usize>row << 2)) + <f32>log64(<f64>denominator);
}
