/**
 * Causal attention over a packed batch of segments whose prefix may be shared, forward, by blocks with a running
 * softmax (FlashAttention, Dao 2022).
 *
 * Shapes: q, out [N, H*d], k, v [N, K*d], lse [N, H]. The plan is a table of row blocks, five int32 each: first token,
 * tokens, first token of the segment, prefix start, prefix length.
 */
import {
  addScoresTimes,
  finishRow,
  KEYS,
  keysIn,
  logSumExp,
  packQueries,
  packRows,
  packTransposed,
  SCORE_STRIDE,
  scores4x8,
  scoresIn,
  spareIn,
  startSoftmax,
  sumsIn,
  valuesIn,
  softmaxRow,
} from './blocks';
import { expTable, floatArg, intArg, pointerArg } from './simd';

/** Rows that attend to every key of a block, whatever their position. */
export const SEE_ALL: i32 = 0x3fffffff;

/** A tile is one row block and one key/value head. args: q, k, v, out, lse, plan, H, K, d, scale. */
export function attention(args: usize, tile: i32, scratch: usize): void {
  const heads = intArg(args, 6);
  const kvHeads = intArg(args, 7);
  const d = intArg(args, 8);
  const group = heads / kvHeads;
  const kvHead = tile % kvHeads;
  const plan = pointerArg(args, 5) + <usize>(tile / kvHeads) * 20;
  const first = load<i32>(plan);
  const tokens = load<i32>(plan, 4);
  const own = load<i32>(plan, 8);
  const prefix = load<i32>(plan, 12);
  const prefixEnd = prefix + load<i32>(plan, 16);
  const qStride = (<usize>heads * <usize>d) << 2;
  const kvStride = (<usize>kvHeads * <usize>d) << 2;
  const qOffset = <usize>first * qStride + ((<usize>(kvHead * group) * <usize>d) << 2);
  const k = pointerArg(args, 1) + ((<usize>kvHead * <usize>d) << 2);
  const v = pointerArg(args, 2) + ((<usize>kvHead * <usize>d) << 2);
  const rows = tokens * group;
  packQueries(pointerArg(args, 0) + qOffset, qStride, tokens, group, d, floatArg(args, 9), scratch);
  startSoftmax(scratch, rows, d);
  for (let key = prefix; key < prefixEnd; key += KEYS) {
    const at = <usize>key * kvStride;
    attendBlock(scratch, 0, rows, group, d, k + at, v + at, kvStride, min(KEYS, prefixEnd - key), SEE_ALL);
  }
  const end = first + tokens;
  for (let key = own; key < end; key += KEYS) {
    const at = <usize>key * kvStride;
    attendBlock(scratch, 0, rows, group, d, k + at, v + at, kvStride, min(KEYS, end - key), first - key + 1);
  }
  const lse = pointerArg(args, 4) + ((<usize>(first * heads + kvHead * group)) << 2);
  finishBlock(scratch, tokens, group, d, pointerArg(args, 3) + qOffset, qStride, lse, (<usize>heads) << 2);
}

/**
 * Lets the rows from `first` up to `end` of a block attend to `count` keys. The rows of the first token attend to the
 * first `seen` keys (SEE_ALL: all of them), those of each later token to one more.
 */
export function attendBlock(
  scratch: usize,
  first: i32,
  end: i32,
  group: i32,
  d: i32,
  k: usize,
  v: usize,
  stride: usize,
  count: i32,
  seen: i32,
): void {
  packTransposed(k, stride, count, d, keysIn(scratch, d));
  let values = v;
  let valueStride = stride;
  // A few rows don't read the values often enough to pay for a copy.
  if (end - first > 8) {
    values = valuesIn(scratch, d);
    valueStride = (<usize>d) << 2;
    packRows(v, stride, count, d, 1.0, values);
  }
  const table = expTable(scratch);
  for (let row = first; row < end; row += 4) {
    const fours = min(4, end - row);
    const maxKeys = min(count, seen + (row + fours - 1 - first) / group);
    if (maxKeys <= 0) continue;
    const padded = scoreRows(scratch, row, d, maxKeys);
    for (let i = 0; i < fours; i++) {
      softmaxRow(scratch, row + i, d, min(count, seen + (row + i - first) / group), padded, table);
    }
    addValues(scratch, row, fours, d, maxKeys, values, valueStride);
  }
}

/** Scores of four rows with the first `maxKeys` packed keys, rounded up to whole panels; returns the rounded count. */
function scoreRows(scratch: usize, row: i32, d: i32, maxKeys: i32): i32 {
  const rowBytes = (<usize>d) << 2;
  const padded = (maxKeys + 7) & ~7;
  const score = scoresIn(scratch, d) + <usize>row * SCORE_STRIDE;
  let panel = keysIn(scratch, d);
  for (let key = 0; key < padded; key += 8) {
    scores4x8(scratch + <usize>row * rowBytes, panel, d, score + ((<usize>key) << 2));
    panel += rowBytes << 3;
  }
  return padded;
}

/** Adds the weighted values of `maxKeys` keys to the sums of up to four rows; rows beyond those go to the spare row. */
function addValues(scratch: usize, row: i32, rows: i32, d: i32, maxKeys: i32, values: usize, stride: usize): void {
  const rowBytes = (<usize>d) << 2;
  const score = scoresIn(scratch, d) + <usize>row * SCORE_STRIDE;
  const spare = spareIn(scratch, d);
  const y0 = sumsIn(scratch, d) + <usize>row * rowBytes;
  const y1 = rows > 1 ? y0 + rowBytes : spare;
  const y2 = rows > 2 ? y0 + 2 * rowBytes : spare;
  const y3 = rows > 3 ? y0 + 3 * rowBytes : spare;
  for (let c: usize = 0; c < rowBytes; c += 32) {
    addScoresTimes(score, maxKeys, values + c, stride, y0 + c, y1 + c, y2 + c, y3 + c);
  }
}

/** Writes the outputs and, where `lse` is not 0, the log-sum-exps of a block's rows. */
export function finishBlock(
  scratch: usize,
  tokens: i32,
  group: i32,
  d: i32,
  out: usize,
  stride: usize,
  lse: usize,
  lseStride: usize,
): void {
  const rowBytes = (<usize>d) << 2;
  for (let token = 0; token < tokens; token++) {
    for (let head = 0; head < group; head++) {
      const row = token * group + head;
      finishRow(scratch, row, d, out + <usize>head * rowBytes);
      if (lse != 0) store<f32>(lse + ((<usize>head) << 2), logSumExp(scratch, row, d));
    }
    out += stride;
    if (lse != 0) lse += lseStride;
  }
}
