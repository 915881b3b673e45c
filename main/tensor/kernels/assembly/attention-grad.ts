/**
 * Backward pass of packed attention: the attention probabilities p are recomputed from the log-sum-exp (FlashAttention-2, Dao 2023).
 *
 * With p = exp(scale q·k − lse), dp = dy·v, ds = p (dp − delta), delta = dy·out:
 * dv = pᵀ dy, dk = scale dsᵀ q, dq = scale ds k.
 *
 * The unit of work is a pair of a key block and a row block that attends to some of it. One kernel walks all pairs of a group of
 * segments; where there are too few groups for the threads, one kernel walks the pairs of a key block and another those
 * of a row block. Each sum takes the same terms in the same order either way, so both give the same bits.
 *
 * int32 tables: keys (first token, tokens, first pair, pairs), rows (first token, tokens, first pair, pairs), pairs
 * (key block, row block, first key seen, end of the keys seen, 1 where causal), groups (first key block, key blocks,
 * first row block, row blocks).
 */
import { addFromRows, addValues, scoreKeys } from './attention-products';
import { KEYS, packQueries, packRows, packTransposed, ROWS, SCORE_STRIDE } from './blocks';
import { expBelow, expTable, floatArg, intArg, madd, pointerArg, sumLanes } from './simd';

// args of the three kernels: q, k, v, dy, lse, delta, dq, dk, dv, keys, rows, pairs by key, pairs by row, groups, H, K,
// d, scale.

/** delta = Σ dy·out per row. A tile is a run of rows. args: dy, out, delta, rows, d, rowsPerTile. */
export function attentionDelta(args: usize, tile: i32, scratch: usize): void {
  const rowBytes = <usize>intArg(args, 4) << 2;
  const perTile = intArg(args, 5);
  const end = min((tile + 1) * perTile, intArg(args, 3));
  for (let row = tile * perTile; row < end; row++) {
    const dy = pointerArg(args, 0) + <usize>row * rowBytes;
    const out = pointerArg(args, 1) + <usize>row * rowBytes;
    let a = f32x4.splat(0);
    let b = f32x4.splat(0);
    for (let c: usize = 0; c < rowBytes; c += 32) {
      a = madd(v128.load(dy + c), v128.load(out + c), a);
      b = madd(v128.load(dy + c, 16), v128.load(out + c, 16), b);
    }
    store<f32>(pointerArg(args, 2) + (<usize>row << 2), sumLanes(f32x4.add(a, b)));
  }
}

/** All gradients of one group of segments; a tile is a group and a key/value head. */
export function attentionGradGroup(args: usize, tile: i32, scratch: usize): void {
  const kvHeads = intArg(args, 15);
  const kvHead = tile % kvHeads;
  const table = pointerArg(args, 13) + (<usize>(tile / kvHeads) << 4);
  const rowEnd = load<i32>(table, 8) + load<i32>(table, 12);
  for (let block = load<i32>(table, 8); block < rowEnd; block++) zeroQueries(args, block, kvHead);
  const keyEnd = load<i32>(table) + load<i32>(table, 4);
  for (let block = load<i32>(table); block < keyEnd; block++) gradKeyBlock(args, block, kvHead, scratch, true);
}

/** dk and dv; a tile is a key block and a key/value head. */
export function attentionGradKeys(args: usize, tile: i32, scratch: usize): void {
  const kvHeads = intArg(args, 15);
  gradKeyBlock(args, tile / kvHeads, tile % kvHeads, scratch, false);
}

/** dq; a tile is a row block and a key/value head. */
export function attentionGradRows(args: usize, tile: i32, scratch: usize): void {
  const kvHeads = intArg(args, 15);
  const kvHead = tile % kvHeads;
  const block = tile / kvHeads;
  const table = pointerArg(args, 10) + (<usize>block << 4);
  zeroQueries(args, block, kvHead);
  loadRows(args, block, kvHead, scratch);
  let pair = pointerArg(args, 12) + <usize>load<i32>(table, 8) * 20;
  for (let left = load<i32>(table, 12); left > 0; left--) {
    loadKeys(args, load<i32>(pair), kvHead, scratch);
    gradPair(args, pair, kvHead, scratch, false, true);
    pair += 20;
  }
}

/** Walks the pairs of one key block: its dk and dv, and what it adds to dq if `queries`. */
function gradKeyBlock(args: usize, block: i32, kvHead: i32, scratch: usize, queries: bool): void {
  const d = intArg(args, 16);
  const table = pointerArg(args, 9) + (<usize>block << 4);
  const tokens = load<i32>(table, 4);
  loadKeys(args, block, kvHead, scratch);
  const dk = buffer(scratch, d, DK);
  memory.fill(dk, 0, ((<usize>KEYS * <usize>d) << 3));
  let pair = pointerArg(args, 11) + <usize>load<i32>(table, 8) * 20;
  for (let left = load<i32>(table, 12); left > 0; left--) {
    loadRows(args, load<i32>(pair, 4), kvHead, scratch);
    gradPair(args, pair, kvHead, scratch, true, queries);
    pair += 20;
  }
  const rowBytes = <usize>d << 2;
  const stride = <usize>intArg(args, 15) * rowBytes;
  const offset = <usize>load<i32>(table) * stride + <usize>kvHead * rowBytes;
  storeRows(dk, tokens, rowBytes, pointerArg(args, 7) + offset, stride);
  storeRows(buffer(scratch, d, DV), tokens, rowBytes, pointerArg(args, 8) + offset, stride);
}

// Buffers of a tile in scratch, each KEYS (= ROWS) rows of d floats; dk and dv are adjacent.
const KEY_ROWS: i32 = 0;
const KEY_PANELS: i32 = 1;
const VALUE_PANELS: i32 = 2;
const QUERIES: i32 = 3;
const DY: i32 = 4;
const DK: i32 = 5;
const DV: i32 = 6;
/** A spare row that absorbs the sums of padding rows. */
const SPARE: i32 = 7;

// @ts-ignore: decorator
@inline
function buffer(scratch: usize, d: i32, index: i32): usize {
  return scratch + ((<usize>index * <usize>ROWS * <usize>d) << 2);
}

/** Probabilities [ROWS, KEYS], after the spare row. */
// @ts-ignore: decorator
@inline
function probsIn(scratch: usize, d: i32): usize {
  return buffer(scratch, d, SPARE) + (<usize>d << 2);
}

/** ds [ROWS, KEYS]. */
// @ts-ignore: decorator
@inline
function dScoresIn(scratch: usize, d: i32): usize {
  return probsIn(scratch, d) + <usize>ROWS * SCORE_STRIDE;
}

/** Log-sum-exp of each row, then delta of each row. */
// @ts-ignore: decorator
@inline
function lseOf(scratch: usize, d: i32): usize {
  return dScoresIn(scratch, d) + <usize>ROWS * SCORE_STRIDE;
}

function loadKeys(args: usize, block: i32, kvHead: i32, scratch: usize): void {
  const d = intArg(args, 16);
  const table = pointerArg(args, 9) + (<usize>block << 4);
  const tokens = load<i32>(table, 4);
  const rowBytes = <usize>d << 2;
  const stride = <usize>intArg(args, 15) * rowBytes;
  const offset = <usize>load<i32>(table) * stride + <usize>kvHead * rowBytes;
  const k = pointerArg(args, 1) + offset;
  // Scaled here for dq; the scores take their scale from the packed queries, and so does dk.
  packRows(k, stride, tokens, d, floatArg(args, 17), buffer(scratch, d, KEY_ROWS));
  packTransposed(k, stride, tokens, d, buffer(scratch, d, KEY_PANELS));
  packTransposed(pointerArg(args, 2) + offset, stride, tokens, d, buffer(scratch, d, VALUE_PANELS));
}

function loadRows(args: usize, block: i32, kvHead: i32, scratch: usize): void {
  const heads = intArg(args, 14);
  const d = intArg(args, 16);
  const group = heads / intArg(args, 15);
  const table = pointerArg(args, 10) + (<usize>block << 4);
  const first = load<i32>(table);
  const tokens = load<i32>(table, 4);
  const rowBytes = <usize>d << 2;
  const stride = <usize>heads * rowBytes;
  const offset = <usize>first * stride + <usize>(kvHead * group) * rowBytes;
  packQueries(pointerArg(args, 0) + offset, stride, tokens, group, d, floatArg(args, 17), buffer(scratch, d, QUERIES));
  packQueries(pointerArg(args, 3) + offset, stride, tokens, group, d, 1.0, buffer(scratch, d, DY));
  const lse = lseOf(scratch, d);
  const delta = lse + (<usize>ROWS << 2);
  for (let token = 0; token < tokens; token++) {
    const from = <usize>((first + token) * heads + kvHead * group) << 2;
    const to = <usize>(token * group) << 2;
    memory.copy(lse + to, pointerArg(args, 4) + from, <usize>group << 2);
    memory.copy(delta + to, pointerArg(args, 5) + from, <usize>group << 2);
  }
  // Rows that pad the last group of four get probability 0: e^(0 − Infinity) = 0.
  for (let row = tokens * group; (row & 3) != 0; row++) {
    store<f32>(lse + (<usize>row << 2), Infinity);
    store<f32>(delta + (<usize>row << 2), 0);
  }
}

/** Adds the gradients of one pair to dk and dv in scratch, and to dq in place. */
function gradPair(args: usize, pair: usize, kvHead: i32, scratch: usize, keys: bool, queries: bool): void {
  const d = intArg(args, 16);
  const group = intArg(args, 14) / intArg(args, 15);
  const rowTable = pointerArg(args, 10) + (<usize>load<i32>(pair, 4) << 4);
  const rows = load<i32>(rowTable, 4) * group;
  const low = load<i32>(pair, 8);
  const high = load<i32>(pair, 12);
  const keyFirst = load<i32>(pointerArg(args, 9) + (<usize>load<i32>(pair) << 4));
  // The first token's rows attend to `seen` keys of the block, each later token's to one more.
  const seen = load<i32>(pair, 16) != 0 ? load<i32>(rowTable) - keyFirst + 1 : KEYS;
  for (let row = 0; row < rows; row += 4) {
    const maxKeys = min(high, seen + (row + 3) / group);
    if (maxKeys <= 0) continue;
    softmaxGradRows(scratch, row, group, d, low, high, seen, maxKeys);
    if (queries) addToQueries(args, load<i32>(rowTable), kvHead, scratch, row, rows, maxKeys);
  }
  if (!keys) return;
  for (let key = 0; key < high; key += 4) addToKeys(scratch, key, max(0, key + 1 - seen) * group, rows, d);
}

/** Probabilities and ds of four rows. */
function softmaxGradRows(
  scratch: usize,
  row: i32,
  group: i32,
  d: i32,
  low: i32,
  high: i32,
  seen: i32,
  maxKeys: i32,
): void {
  const rowBytes = <usize>d << 2;
  const padded = (maxKeys + 7) & ~7;
  const probs = probsIn(scratch, d) + <usize>row * SCORE_STRIDE;
  const dScores = dScoresIn(scratch, d) + <usize>row * SCORE_STRIDE;
  const offset = <usize>row * rowBytes;
  scoreKeys(buffer(scratch, d, QUERIES) + offset, buffer(scratch, d, KEY_PANELS), d, padded, probs);
  scoreKeys(buffer(scratch, d, DY) + offset, buffer(scratch, d, VALUE_PANELS), d, padded, dScores);
  const table = expTable(scratch);
  const lse = lseOf(scratch, d) + (<usize>row << 2);
  for (let i = 0; i < 4; i++) {
    const at = <usize>i << 2;
    const visible = max(0, min(high, seen + (row + i) / group));
    const line = <usize>i * SCORE_STRIDE;
    softmaxGradRow(probs + line, dScores + line, load<f32>(lse + at), load<f32>(lse + at, 256), low, visible, padded, table);
  }
}

/** p = exp(score − lse) and ds = p (dp − delta) over one row; both zero outside [low, visible). */
function softmaxGradRow(probs: usize, dScores: usize, lse: f32, delta: f32, low: i32, visible: i32, padded: i32, table: usize): void {
  const lse4 = f32x4.splat(lse);
  const delta4 = f32x4.splat(delta);
  const end = <usize>padded << 2;
  for (let i: usize = 0; i < end; i += 32) {
    const a = expBelow(f32x4.sub(v128.load(probs + i), lse4), table);
    const b = expBelow(f32x4.sub(v128.load(probs + i, 16), lse4), table);
    v128.store(probs + i, a);
    v128.store(probs + i, b, 16);
    const dA = f32x4.mul(a, f32x4.sub(v128.load(dScores + i), delta4));
    const dB = f32x4.mul(b, f32x4.sub(v128.load(dScores + i, 16), delta4));
    v128.store(dScores + i, dA);
    v128.store(dScores + i, dB, 16);
  }
  const bytesLow = <usize>low << 2;
  memory.fill(probs, 0, bytesLow);
  memory.fill(dScores, 0, bytesLow);
  const from = <usize>visible << 2;
  memory.fill(probs + from, 0, end - from);
  memory.fill(dScores + from, 0, end - from);
}

/** dq of four rows += ds · (scale k). */
function addToQueries(args: usize, first: i32, kvHead: i32, scratch: usize, row: i32, rows: i32, maxKeys: i32): void {
  const heads = intArg(args, 14);
  const d = intArg(args, 16);
  const group = heads / intArg(args, 15);
  const rowBytes = <usize>d << 2;
  const spare = buffer(scratch, d, SPARE);
  const dq = pointerArg(args, 6) + <usize>(first * heads + kvHead * group) * rowBytes;
  const y0 = queryRow(dq, row, rows, group, heads, rowBytes, spare);
  const y1 = queryRow(dq, row + 1, rows, group, heads, rowBytes, spare);
  const y2 = queryRow(dq, row + 2, rows, group, heads, rowBytes, spare);
  const y3 = queryRow(dq, row + 3, rows, group, heads, rowBytes, spare);
  const dScores = dScoresIn(scratch, d) + <usize>row * SCORE_STRIDE;
  addValues(dScores, maxKeys, buffer(scratch, d, KEY_ROWS), d, y0, y1, y2, y3);
}

/** The address of a block's row in dq, or of the spare row for a padding row. */
// @ts-ignore: decorator
@inline
function queryRow(dq: usize, row: i32, rows: i32, group: i32, heads: i32, rowBytes: usize, spare: usize): usize {
  if (row >= rows) return spare;
  return dq + <usize>((row / group) * heads + (row % group)) * rowBytes;
}

/** dv and dk of four keys += the contributions of the rows from `firstRow` on, the only ones that attend to them. */
function addToKeys(scratch: usize, key: i32, firstRow: i32, rows: i32, d: i32): void {
  // Groups of four: the probabilities of rows before the first are zero within its group.
  const from = firstRow & ~3;
  const count = ((rows + 3) & ~3) - from;
  if (count <= 0) return;
  const rowBytes = <usize>d << 2;
  const score = <usize>from * SCORE_STRIDE + (<usize>key << 2);
  const keyOffset = <usize>key * rowBytes;
  const rowOffset = <usize>from * rowBytes;
  const probs = probsIn(scratch, d) + score;
  const dScores = dScoresIn(scratch, d) + score;
  const dy = buffer(scratch, d, DY) + rowOffset;
  const queries = buffer(scratch, d, QUERIES) + rowOffset;
  addFromRows(probs, count, dy, d, buffer(scratch, d, DV) + keyOffset);
  addFromRows(dScores, count, queries, d, buffer(scratch, d, DK) + keyOffset);
}

function zeroQueries(args: usize, block: i32, kvHead: i32): void {
  const heads = intArg(args, 14);
  const group = heads / intArg(args, 15);
  const table = pointerArg(args, 10) + (<usize>block << 4);
  const rowBytes = <usize>intArg(args, 16) << 2;
  let dq = pointerArg(args, 6) + <usize>(load<i32>(table) * heads + kvHead * group) * rowBytes;
  for (let token = load<i32>(table, 4); token > 0; token--) {
    memory.fill(dq, 0, <usize>group * rowBytes);
    dq += <usize>heads * rowBytes;
  }
}

function storeRows(source: usize, count: i32, rowBytes: usize, target: usize, stride: usize): void {
  for (let row = 0; row < count; row++) {
    memory.copy(target, source, rowBytes);
    source += rowBytes;
    target += stride;
  }
}
