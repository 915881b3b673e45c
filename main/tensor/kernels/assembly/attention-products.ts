/**
 * The products of attention, for four rows (queries) or four keys at a time: sixteen columns at once, then eight that are
 * left over.
 */
import { SCORE_STRIDE } from './blocks';
import { block4x8, block4x16 } from './micro';

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
  const row = <usize>d << 2;
  const y1 = score + SCORE_STRIDE;
  const y2 = y1 + SCORE_STRIDE;
  block4x8(panel, 32, a, a + row, a + 2 * row, a + 3 * row, 4, d, score, y1, y2, y2 + SCORE_STRIDE, false);
}

/** The same of two neighbouring panels at once: score[4][16]. */
function scores4x16(a: usize, panel: usize, d: i32, score: usize): void {
  const row = <usize>d << 2;
  const gap = <usize>d << 5;
  const y1 = score + SCORE_STRIDE;
  const y2 = y1 + SCORE_STRIDE;
  block4x16(panel, true, gap, 32, a, a + row, a + 2 * row, a + 3 * row, 4, d, score, y1, y2, y2 + SCORE_STRIDE, false);
}

/** addLines at eight columns; the rows of b are `stride` bytes apart. */
function add4x8(
  x: usize, line: usize, step: usize, count: i32, b: usize, stride: usize, y0: usize, y1: usize, y2: usize, y3: usize,
): void {
  block4x8(b, stride, x, x + line, x + 2 * line, x + 3 * line, step, count, y0, y1, y2, y3, true);
}

/** addLines at sixteen columns. */
function add4x16(
  x: usize, line: usize, step: usize, count: i32, b: usize, stride: usize, y0: usize, y1: usize, y2: usize, y3: usize,
): void {
  block4x16(b, false, 0, stride, x, x + line, x + 2 * line, x + 3 * line, step, count, y0, y1, y2, y3, true);
}
