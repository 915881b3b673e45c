/**
 * Causal attention over a packed batch of segments whose prefix may be shared, forward, by blocks with a running
 * softmax (FlashAttention, Dao 2022).
 *
 * Shapes: q, out [N, H*d], k, v [N, K*d], lse [N, H]. The plan is a table of row blocks, five int32 each: first token,
 * tokens, first token of the segment, prefix start, prefix length.
 */
import { addValues, scoreKeys } from './attention-products';
import {
  finishRow,
  KEYS,
  keysIn,
  logSumExp,
  packQueries,
  packRows,
  packTransposed,
  SCORE_STRIDE,
  scoresIn,
  spareIn,
  startSoftmax,
  sumsIn,
  softmaxRow,
  valuesIn,
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
  const qStride = (<usize>heads * <usize>d) << 2;
  const qOffset = <usize>first * qStride + ((<usize>(kvHead * group) * <usize>d) << 2);
  const rows = tokens * group;
  packQueries(pointerArg(args, 0) + qOffset, qStride, tokens, group, d, floatArg(args, 9), scratch);
  startSoftmax(scratch, rows, d);
  attendKeys(args, kvHead, rows, group, prefix, prefix + load<i32>(plan, 16), SEE_ALL, scratch);
  attendKeys(args, kvHead, rows, group, own, first + tokens, first - own + 1, scratch);
  const lse = pointerArg(args, 4) + ((<usize>(first * heads + kvHead * group)) << 2);
  finishBlock(scratch, tokens, group, d, pointerArg(args, 3) + qOffset, qStride, lse, (<usize>heads) << 2);
}

/** Packs the keys and values of the tokens from `first` up to `end`, a block at a time, for the rows to attend to. */
function attendKeys(
  args: usize,
  kvHead: i32,
  rows: i32,
  group: i32,
  first: i32,
  end: i32,
  seen: i32,
  scratch: usize,
): void {
  const d = intArg(args, 8);
  const stride = (<usize>intArg(args, 7) * <usize>d) << 2;
  const head = (<usize>kvHead * <usize>d) << 2;
  const panels = keysIn(scratch, d);
  const values = valuesIn(scratch, d);
  for (let key = first; key < end; key += KEYS) {
    const at = <usize>key * stride + head;
    const count = min(KEYS, end - key);
    packTransposed(pointerArg(args, 1) + at, stride, count, d, panels);
    packRows(pointerArg(args, 2) + at, stride, count, d, 1.0, values);
    attendBlock(scratch, rows, group, d, panels, values, count, seen - (key - first));
  }
}

/**
 * Lets `rows` rows of a block attend to up to KEYS keys, packed in panels (packTransposed), and their values. The rows of
 * the first token attend to the first `seen` keys (SEE_ALL: all of them), those of each later token to one more.
 */
export function attendBlock(
  scratch: usize,
  rows: i32,
  group: i32,
  d: i32,
  panels: usize,
  values: usize,
  count: i32,
  seen: i32,
): void {
  const table = expTable(scratch);
  for (let row = 0; row < rows; row += 4) {
    const fours = min(4, rows - row);
    const maxKeys = min(count, seen + (row + fours - 1) / group);
    if (maxKeys <= 0) continue;
    const padded = (maxKeys + 7) & ~7;
    const query = scratch + ((<usize>(row * d)) << 2);
    scoreKeys(query, panels, d, padded, scoresIn(scratch, d) + <usize>row * SCORE_STRIDE);
    for (let i = 0; i < fours; i++) {
      softmaxRow(scratch, row + i, d, min(count, seen + (row + i) / group), padded, table);
    }
    addToSums(scratch, row, fours, d, maxKeys, values);
  }
}

/** Adds the weighted values of `maxKeys` keys to the sums of up to four rows; rows beyond those go to the spare row. */
function addToSums(scratch: usize, row: i32, rows: i32, d: i32, maxKeys: i32, values: usize): void {
  const rowBytes = (<usize>d) << 2;
  const score = scoresIn(scratch, d) + <usize>row * SCORE_STRIDE;
  const spare = spareIn(scratch, d);
  const y0 = sumsIn(scratch, d) + <usize>row * rowBytes;
  const y1 = rows > 1 ? y0 + rowBytes : spare;
  const y2 = rows > 2 ? y0 + 2 * rowBytes : spare;
  const y3 = rows > 3 ? y0 + 3 * rowBytes : spare;
  addValues(score, maxKeys, values, d, y0, y1, y2, y3);
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
