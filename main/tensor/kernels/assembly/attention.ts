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
  packQueries,
  packRows,
  packTransposed,
  SCORE_STRIDE,
  scores4x8,
  scoresIn,
  startSoftmax,
  sumsIn,
  valuesIn,
  weighRow,
} from './blocks';
import { expTable, floatArg, intArg, pointerArg } from './simd';

/** Rows that see every key of a block, whatever their place. */
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
    attendBlock(scratch, rows, group, d, k + at, v + at, kvStride, min(KEYS, prefixEnd - key), SEE_ALL);
  }
  const end = first + tokens;
  for (let key = own; key < end; key += KEYS) {
    const at = <usize>key * kvStride;
    attendBlock(scratch, rows, group, d, k + at, v + at, kvStride, min(KEYS, end - key), first - key + 1);
  }
  const lse = pointerArg(args, 4) + ((<usize>(first * heads + kvHead * group)) << 2);
  finishBlock(scratch, tokens, group, d, pointerArg(args, 3) + qOffset, qStride, lse, (<usize>heads) << 2);
}

/**
 * Lets a block of rows attend to `count` keys. The rows of the first token see the first `seen` of them (SEE_ALL: every
 * one), those of each later token one more.
 */
export function attendBlock(
  scratch: usize,
  rows: i32,
  group: i32,
  d: i32,
  k: usize,
  v: usize,
  stride: usize,
  count: i32,
  seen: i32,
): void {
  packTransposed(k, stride, count, d, keysIn(scratch, d));
  packRows(v, stride, count, d, 1.0, valuesIn(scratch, d));
  for (let row = 0; row < rows; row += 4) {
    const most = min(count, seen + (row + 3) / group);
    if (most <= 0) continue;
    attendRows(scratch, row, group, d, count, seen, most);
  }
}

/** Four rows of attendBlock; the last of them sees `most` keys. */
function attendRows(scratch: usize, row: i32, group: i32, d: i32, count: i32, seen: i32, most: i32): void {
  const rowBytes = (<usize>d) << 2;
  const padded = (most + 7) & ~7;
  const score = scoresIn(scratch, d) + <usize>row * SCORE_STRIDE;
  let panel = keysIn(scratch, d);
  for (let key = 0; key < padded; key += 8) {
    scores4x8(scratch + <usize>row * rowBytes, panel, d, score + ((<usize>key) << 2));
    panel += rowBytes << 3;
  }
  const table = expTable(scratch);
  for (let i = 0; i < 4; i++) {
    const visible = min(count, seen + (row + i) / group);
    if (visible > 0) weighRow(scratch, row + i, d, visible, padded, table);
    else memory.fill(score + <usize>i * SCORE_STRIDE, 0, (<usize>padded) << 2);
  }
  const values = valuesIn(scratch, d);
  const y = sumsIn(scratch, d) + <usize>row * rowBytes;
  for (let c: usize = 0; c < rowBytes; c += 32) {
    const y0 = y + c;
    const y1 = y0 + rowBytes;
    const y2 = y1 + rowBytes;
    addScoresTimes(score, most, values + c, rowBytes, y0, y1, y2, y2 + rowBytes);
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
      const sum = finishRow(scratch, token * group + head, d, out + <usize>head * rowBytes);
      if (lse != 0) store<f32>(lse + ((<usize>head) << 2), sum);
    }
    out += stride;
    if (lse != 0) lse += lseStride;
  }
}
