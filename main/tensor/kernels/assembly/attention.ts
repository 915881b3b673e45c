/**
 * Causal attention over a packed batch of segments whose prefix may be shared, forward, by blocks with a running
 * softmax (FlashAttention, Dao 2022).
 *
 * Shapes: q, out [N, H*d], k, v [N, K*d], packedK, packedV [K, P, d] as packKeys leaves them, lse [N, H]. The plan is a
 * table of row blocks, six int32 each: first token, tokens, tokens of their segment before them, where the segment and
 * where its prefix is packed, prefix tokens.
 */
import { addValues, scoreKeys } from './attention-products';
import {
  finishRow,
  KEYS,
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
} from './blocks';
import { expTable, floatArg, intArg, pointerArg } from './simd';

/** Rows that attend to every key of a block, whatever their position. */
export const SEE_ALL: i32 = 0x3fffffff;

/**
 * Packs runs of tokens: keys in panels of eight (packTransposed), values as they are, each head's by themselves. So keys
 * that many blocks of rows share are packed once. Shapes: k, v [N, K*d], packedK, packedV [K, P, d], runs int32
 * [runs, 3] of (first token, tokens, packed at). A tile is a run and a key/value head. args: k, v, packedK, packedV,
 * runs, K, d, P.
 */
export function packKeys(args: usize, tile: i32, scratch: usize): void {
  const kvHeads = intArg(args, 5);
  const d = intArg(args, 6);
  const kvHead = tile % kvHeads;
  const run = pointerArg(args, 4) + <usize>(tile / kvHeads) * 12;
  const tokens = load<i32>(run, 4);
  const rowBytes = (<usize>d) << 2;
  const stride = <usize>kvHeads * rowBytes;
  const from = <usize>load<i32>(run) * stride + <usize>kvHead * rowBytes;
  const to = <usize>(kvHead * intArg(args, 7) + load<i32>(run, 8)) * rowBytes;
  packTransposed(pointerArg(args, 0) + from, stride, tokens, d, pointerArg(args, 2) + to);
  packRows(pointerArg(args, 1) + from, stride, tokens, d, 1.0, pointerArg(args, 3) + to);
}

/** A tile is one row block and one key/value head. args: q, packedK, packedV, out, lse, plan, H, K, d, scale, P. */
export function attention(args: usize, tile: i32, scratch: usize): void {
  const heads = intArg(args, 6);
  const kvHeads = intArg(args, 7);
  const d = intArg(args, 8);
  const group = heads / kvHeads;
  const kvHead = tile % kvHeads;
  const plan = pointerArg(args, 5) + <usize>(tile / kvHeads) * 24;
  const first = load<i32>(plan);
  const tokens = load<i32>(plan, 4);
  const before = load<i32>(plan, 8);
  const rowBytes = (<usize>d) << 2;
  const own = <usize>load<i32>(plan, 12) * rowBytes;
  const prefix = <usize>load<i32>(plan, 16) * rowBytes;
  const qStride = <usize>heads * rowBytes;
  const qOffset = <usize>first * qStride + <usize>(kvHead * group) * rowBytes;
  const head = <usize>(kvHead * intArg(args, 10)) * rowBytes;
  const k = pointerArg(args, 1) + head;
  const v = pointerArg(args, 2) + head;
  const rows = tokens * group;
  packQueries(pointerArg(args, 0) + qOffset, qStride, tokens, group, d, floatArg(args, 9), scratch);
  startSoftmax(scratch, rows, d);
  attend(scratch, rows, group, d, k + prefix, v + prefix, load<i32>(plan, 20), SEE_ALL);
  attend(scratch, rows, group, d, k + own, v + own, before + tokens, before + 1);
  const lse = pointerArg(args, 4) + ((<usize>(first * heads + kvHead * group)) << 2);
  finishBlock(scratch, tokens, group, d, pointerArg(args, 3) + qOffset, qStride, lse, (<usize>heads) << 2);
}

/**
 * Lets `rows` rows of a block attend to `count` keys as packKeys leaves them, a block at a time. The rows of the first
 * token attend to the first `seen` keys (SEE_ALL: all of them), those of each later token to one more.
 */
export function attend(
  scratch: usize,
  rows: i32,
  group: i32,
  d: i32,
  panels: usize,
  values: usize,
  count: i32,
  seen: i32,
): void {
  const blockBytes = (<usize>(KEYS * d)) << 2;
  for (let key = 0; key < count; key += KEYS) {
    attendBlock(scratch, rows, group, d, panels, values, min(KEYS, count - key), seen - key);
    panels += blockBytes;
    values += blockBytes;
  }
}

function attendBlock(
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
