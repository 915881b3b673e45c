/**
 * Attention of one new token a row against a shared prefix and the row's own cache. Rows may have written different numbers
 * of tokens, and several tokens of one slot may stand in a line: each then sees those before it.
 *
 * Shapes: q, out [B, H*d], k, v [B, K*d], prefixK, prefixV [K, P, d] as packPrefix leaves them, ownK, ownV
 * [slots, K, T, d], rows int32 [B, 3] of (slot, prefix start, prefix length), positions int32 [B] within the whole text.
 * Each head's numbers lie next to each other: a step reads all of them once, at the speed of memory. The plan is a table of runs, two int32 each: first row and number
 * of rows, all with the same prefix.
 */
import { attendBlock, finishBlock, SEE_ALL } from './attention';
import {
  KEYS,
  packQueries,
  packRows,
  packTransposed,
  SCORE_STRIDE,
  scoresIn,
  startSoftmax,
  sumsIn,
  softmaxRow,
} from './blocks';
import { expTable, floatArg, intArg, madd, pointerArg, sumLanesOf4 } from './simd';

/**
 * Packs prompts once for all decoding steps: keys in panels of eight (packTransposed), values as they are, each head's by
 * themselves. Shapes: k, v [Np, K*d], packedK, packedV [K, P, d], prompts int32 [prompts, 3] of (start, tokens, packed
 * start). A tile is a prompt and a key/value head. args: k, v, packedK, packedV, prompts, K, d, P.
 */
export function packPrefix(args: usize, tile: i32, scratch: usize): void {
  const kvHeads = intArg(args, 5);
  const d = intArg(args, 6);
  const kvHead = tile % kvHeads;
  const prompt = pointerArg(args, 4) + <usize>(tile / kvHeads) * 12;
  const tokens = load<i32>(prompt, 4);
  const rowBytes = (<usize>d) << 2;
  const stride = <usize>kvHeads * rowBytes;
  const from = <usize>load<i32>(prompt) * stride + <usize>kvHead * rowBytes;
  const to = <usize>(kvHead * intArg(args, 7) + load<i32>(prompt, 8)) * rowBytes;
  packTransposed(pointerArg(args, 0) + from, stride, tokens, d, pointerArg(args, 2) + to);
  packRows(pointerArg(args, 1) + from, stride, tokens, d, 1.0, pointerArg(args, 3) + to);
}

/**
 * A tile is a run and a key/value head. args: q, k, v, prefixK, prefixV, ownK, ownV, rows, out, plan, H, K, d, scale,
 * positions, T, P.
 */
export function decodeAttention(args: usize, tile: i32, scratch: usize): void {
  const heads = intArg(args, 10);
  const kvHeads = intArg(args, 11);
  const d = intArg(args, 12);
  const group = heads / kvHeads;
  const kvHead = tile % kvHeads;
  const plan = pointerArg(args, 9) + ((<usize>(tile / kvHeads)) << 3);
  const first = load<i32>(plan);
  const count = load<i32>(plan, 4);
  const rowBytes = (<usize>d) << 2;
  const qStride = <usize>heads * rowBytes;
  const offset = <usize>first * qStride + <usize>(kvHead * group) * rowBytes;
  packQueries(pointerArg(args, 0) + offset, qStride, count, group, d, floatArg(args, 13), scratch);
  startSoftmax(scratch, count * group, d);
  attendPrefix(args, first, count * group, kvHead, scratch);
  for (let i = 0; i < count; i++) attendOwn(args, first + i, i * group, kvHead, scratch);
  finishBlock(scratch, count, group, d, pointerArg(args, 8) + offset, qStride, 0, 0);
}

function attendPrefix(args: usize, first: i32, rows: i32, kvHead: i32, scratch: usize): void {
  const kvHeads = intArg(args, 11);
  const d = intArg(args, 12);
  const group = intArg(args, 10) / kvHeads;
  const rowBytes = (<usize>d) << 2;
  const row = pointerArg(args, 7) + <usize>first * 12;
  const start = load<i32>(row, 4);
  const length = load<i32>(row, 8);
  const offset = <usize>(kvHead * intArg(args, 16) + start) * rowBytes;
  let panels = pointerArg(args, 3) + offset;
  let values = pointerArg(args, 4) + offset;
  for (let key = 0; key < length; key += KEYS) {
    attendBlock(scratch, rows, group, d, panels, values, min(KEYS, length - key), SEE_ALL);
    panels += <usize>KEYS * rowBytes;
    values += <usize>KEYS * rowBytes;
  }
}

/**
 * Puts the row's new key and value into its cache, then attends to the cache up to them. Those of the slot's tokens before
 * it are put there too, as other tiles may be late: the same numbers.
 */
function attendOwn(args: usize, row: i32, scratchRow: i32, kvHead: i32, scratch: usize): void {
  const kvHeads = intArg(args, 11);
  const d = intArg(args, 12);
  const group = intArg(args, 10) / kvHeads;
  const rowBytes = (<usize>d) << 2;
  const slot = load<i32>(pointerArg(args, 7) + <usize>row * 12);
  const step = ownPlace(args, row);
  const cache = <usize>(slot * kvHeads + kvHead) * <usize>intArg(args, 15) * rowBytes;
  let k = pointerArg(args, 5) + cache;
  let v = pointerArg(args, 6) + cache;
  for (let at = row; at >= 0 && load<i32>(pointerArg(args, 7) + <usize>at * 12) == slot; at--) {
    const fresh = <usize>(at * kvHeads + kvHead) * rowBytes;
    const place = <usize>ownPlace(args, at) * rowBytes;
    copyRow(pointerArg(args, 1) + fresh, rowBytes, k + place);
    copyRow(pointerArg(args, 2) + fresh, rowBytes, v + place);
  }
  for (let key = 0; key <= step; key += KEYS) {
    const count = min(KEYS, step + 1 - key);
    attendKeys(scratch, scratchRow, group, d, k, v, count);
    k += <usize>KEYS * rowBytes;
    v += <usize>KEYS * rowBytes;
  }
}

/** Where a row's new token goes among the slot's own. */
// @ts-ignore: decorator
@inline
function ownPlace(args: usize, row: i32): i32 {
  return load<i32>(pointerArg(args, 14) + (<usize>row << 2)) - load<i32>(pointerArg(args, 7) + <usize>row * 12, 8);
}

/** Copies a row of a whole number of pairs of vectors; V8 calls a function for memory.copy. */
// @ts-ignore: decorator
@inline
function copyRow(from: usize, rowBytes: usize, to: usize): void {
  for (let c: usize = 0; c < rowBytes; c += 32) {
    v128.store(to + c, v128.load(from + c));
    v128.store(to + c, v128.load(from + c, 16), 16);
  }
}

/** A token's rows against `count` unpacked keys: with so few rows packing would cost more than it saves. */
function attendKeys(scratch: usize, row: i32, group: i32, d: i32, k: usize, v: usize, count: i32): void {
  const rowBytes = (<usize>d) << 2;
  const padded = (count + 3) & ~3;
  const table = expTable(scratch);
  const end = row + group;
  while (row < end) {
    const q = scratch + <usize>row * rowBytes;
    const y = sumsIn(scratch, d) + <usize>row * rowBytes;
    const score = scoresIn(scratch, d) + <usize>row * SCORE_STRIDE;
    if (row + 1 < end) {
      dotTwo(q, rowBytes, k, count, score);
      softmaxRow(scratch, row, d, count, padded, table);
      softmaxRow(scratch, row + 1, d, count, padded, table);
      addTwo(score, v, count, rowBytes, y);
    } else {
      dotOne(q, rowBytes, k, count, score);
      softmaxRow(scratch, row, d, count, padded, table);
      addOne(score, v, count, rowBytes, 0, y);
    }
    row += 2;
  }
}

/** score[j] = q · k[j], four keys at a time. */
function dotOne(q: usize, rowBytes: usize, k: usize, count: i32, score: usize): void {
  for (let key = 0; key < count; key += 4) {
    // Past the end the last key is repeated; softmaxRow masks its scores.
    const last = count - 1 - key;
    const k1 = k + <usize>min(1, last) * rowBytes;
    const k2 = k + <usize>min(2, last) * rowBytes;
    const k3 = k + <usize>min(3, last) * rowBytes;
    let s0 = f32x4.splat(0);
    let s1 = f32x4.splat(0);
    let s2 = f32x4.splat(0);
    let s3 = f32x4.splat(0);
    let t0 = f32x4.splat(0);
    let t1 = f32x4.splat(0);
    let t2 = f32x4.splat(0);
    let t3 = f32x4.splat(0);
    for (let c: usize = 0; c < rowBytes; c += 32) {
      let x = v128.load(q + c);
      s0 = madd(x, v128.load(k + c), s0);
      s1 = madd(x, v128.load(k1 + c), s1);
      s2 = madd(x, v128.load(k2 + c), s2);
      s3 = madd(x, v128.load(k3 + c), s3);
      x = v128.load(q + c, 16);
      t0 = madd(x, v128.load(k + c, 16), t0);
      t1 = madd(x, v128.load(k1 + c, 16), t1);
      t2 = madd(x, v128.load(k2 + c, 16), t2);
      t3 = madd(x, v128.load(k3 + c, 16), t3);
    }
    const sums = sumLanesOf4(f32x4.add(s0, t0), f32x4.add(s1, t1), f32x4.add(s2, t2), f32x4.add(s3, t3));
    v128.store(score + ((<usize>key) << 2), sums);
    k += rowBytes << 2;
  }
}

/** dotOne for two rows, which share the loads of the keys. */
function dotTwo(q: usize, rowBytes: usize, k: usize, count: i32, score: usize): void {
  const other = q + rowBytes;
  for (let key = 0; key < count; key += 4) {
    const last = count - 1 - key;
    const k1 = k + <usize>min(1, last) * rowBytes;
    const k2 = k + <usize>min(2, last) * rowBytes;
    const k3 = k + <usize>min(3, last) * rowBytes;
    let s0 = f32x4.splat(0);
    let s1 = f32x4.splat(0);
    let s2 = f32x4.splat(0);
    let s3 = f32x4.splat(0);
    let t0 = f32x4.splat(0);
    let t1 = f32x4.splat(0);
    let t2 = f32x4.splat(0);
    let t3 = f32x4.splat(0);
    for (let c: usize = 0; c < rowBytes; c += 16) {
      const x = v128.load(q + c);
      const y = v128.load(other + c);
      let keys = v128.load(k + c);
      s0 = madd(x, keys, s0);
      t0 = madd(y, keys, t0);
      keys = v128.load(k1 + c);
      s1 = madd(x, keys, s1);
      t1 = madd(y, keys, t1);
      keys = v128.load(k2 + c);
      s2 = madd(x, keys, s2);
      t2 = madd(y, keys, t2);
      keys = v128.load(k3 + c);
      s3 = madd(x, keys, s3);
      t3 = madd(y, keys, t3);
    }
    const at = score + ((<usize>key) << 2);
    v128.store(at, sumLanesOf4(s0, s1, s2, s3));
    v128.store(at, sumLanesOf4(t0, t1, t2, t3), 256);
    k += rowBytes << 2;
  }
}

/** y += Σ_j score[j] v[j] from column `c` (in bytes) on, eight columns at a time. */
function addOne(score: usize, v: usize, count: i32, rowBytes: usize, c: usize, y: usize): void {
  for (; c < rowBytes; c += 32) {
    let even0 = v128.load(y + c);
    let even1 = v128.load(y + c, 16);
    let odd0 = f32x4.splat(0);
    let odd1 = f32x4.splat(0);
    let value = v + c;
    let probs = score;
    const end = score + ((<usize>(count & ~1)) << 2);
    while (probs < end) {
      const a = v128.load32_splat(probs);
      even0 = madd(a, v128.load(value), even0);
      even1 = madd(a, v128.load(value, 16), even1);
      value += rowBytes;
      const b = v128.load32_splat(probs, 4);
      odd0 = madd(b, v128.load(value), odd0);
      odd1 = madd(b, v128.load(value, 16), odd1);
      value += rowBytes;
      probs += 8;
    }
    if ((count & 1) != 0) {
      const a = v128.load32_splat(probs);
      even0 = madd(a, v128.load(value), even0);
      even1 = madd(a, v128.load(value, 16), even1);
    }
    v128.store(y + c, f32x4.add(even0, odd0));
    v128.store(y + c, f32x4.add(even1, odd1), 16);
  }
}

/** addOne for two neighbouring rows, sixteen columns at a time. */
function addTwo(score: usize, v: usize, count: i32, rowBytes: usize, y: usize): void {
  const other = y + rowBytes;
  const wide = rowBytes & ~63;
  const end = score + ((<usize>count) << 2);
  for (let c: usize = 0; c < wide; c += 64) {
    let s0 = v128.load(y + c);
    let s1 = v128.load(y + c, 16);
    let s2 = v128.load(y + c, 32);
    let s3 = v128.load(y + c, 48);
    let t0 = v128.load(other + c);
    let t1 = v128.load(other + c, 16);
    let t2 = v128.load(other + c, 32);
    let t3 = v128.load(other + c, 48);
    let value = v + c;
    for (let probs = score; probs < end; probs += 4) {
      const a = v128.load32_splat(probs);
      const b = v128.load32_splat(probs, 256);
      let x = v128.load(value);
      s0 = madd(a, x, s0);
      t0 = madd(b, x, t0);
      x = v128.load(value, 16);
      s1 = madd(a, x, s1);
      t1 = madd(b, x, t1);
      x = v128.load(value, 32);
      s2 = madd(a, x, s2);
      t2 = madd(b, x, t2);
      x = v128.load(value, 48);
      s3 = madd(a, x, s3);
      t3 = madd(b, x, t3);
      value += rowBytes;
    }
    v128.store(y + c, s0);
    v128.store(y + c, s1, 16);
    v128.store(y + c, s2, 32);
    v128.store(y + c, s3, 48);
    v128.store(other + c, t0);
    v128.store(other + c, t1, 16);
    v128.store(other + c, t2, 32);
    v128.store(other + c, t3, 48);
  }
  if (wide == rowBytes) return;
  addOne(score, v, count, rowBytes, wide, y);
  addOne(score + SCORE_STRIDE, v, count, rowBytes, wide, other);
}
