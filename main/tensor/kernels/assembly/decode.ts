/**
 * Attention of one new token a row against a shared prefix and the row's own cache.
 *
 * Shapes: q, out [B, H*d], k, v [B, K*d], prefixK, prefixV [Np, K*d], ownK, ownV [slots, T, K*d], rows int32 [B, 3] of
 * (slot, prefix start, prefix length). The plan is a table of runs, two int32 each: first row and number of rows, all
 * with the same prefix, so that its keys are read and packed once for the run.
 */
import { attendBlock, finishBlock, SEE_ALL } from './attention';
import { KEYS, packQueries, SCORE_STRIDE, scoresIn, startSoftmax, sumsIn, weighRow } from './blocks';
import { expTable, floatArg, intArg, pointerArg, madd, sumLanesOf4 } from './simd';

/**
 * A tile is a run and a key/value head. args: q, k, v, prefixK, prefixV, ownK, ownV, rows, out, plan, H, K, d, scale,
 * step, T.
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
  const stride = (<usize>kvHeads * <usize>d) << 2;
  const row = pointerArg(args, 7) + <usize>first * 12;
  const start = load<i32>(row, 4);
  const length = load<i32>(row, 8);
  const offset = <usize>start * stride + ((<usize>kvHead * <usize>d) << 2);
  let k = pointerArg(args, 3) + offset;
  let v = pointerArg(args, 4) + offset;
  for (let key = 0; key < length; key += KEYS) {
    attendBlock(scratch, rows, group, d, k, v, stride, min(KEYS, length - key), SEE_ALL);
    k += <usize>KEYS * stride;
    v += <usize>KEYS * stride;
  }
}

/** Puts the row's new key and value into its cache, then attends to the cache up to them. */
function attendOwn(args: usize, row: i32, scratchRow: i32, kvHead: i32, scratch: usize): void {
  const kvHeads = intArg(args, 11);
  const d = intArg(args, 12);
  const group = intArg(args, 10) / kvHeads;
  const step = intArg(args, 14);
  const rowBytes = (<usize>d) << 2;
  const stride = <usize>kvHeads * rowBytes;
  const slot = load<i32>(pointerArg(args, 7) + <usize>row * 12);
  const head = <usize>kvHead * rowBytes;
  const cache = <usize>slot * <usize>intArg(args, 15) * stride + head;
  let k = pointerArg(args, 5) + cache;
  let v = pointerArg(args, 6) + cache;
  const fresh = <usize>row * stride + head;
  memory.copy(k + <usize>step * stride, pointerArg(args, 1) + fresh, rowBytes);
  memory.copy(v + <usize>step * stride, pointerArg(args, 2) + fresh, rowBytes);
  for (let key = 0; key <= step; key += KEYS) {
    const count = min(KEYS, step + 1 - key);
    attendKeys(scratch, scratchRow, group, d, k, v, stride, count);
    k += <usize>KEYS * stride;
    v += <usize>KEYS * stride;
  }
}

/** A few rows against `count` keys where they lie: with so few rows packing would cost more than it saves. */
function attendKeys(scratch: usize, row: i32, group: i32, d: i32, k: usize, v: usize, stride: usize, count: i32): void {
  const rowBytes = (<usize>d) << 2;
  const padded = (count + 3) & ~3;
  const table = expTable(scratch);
  for (let i = 0; i < group; i++) {
    const score = scoresIn(scratch, d) + <usize>(row + i) * SCORE_STRIDE;
    dotKeys(scratch + <usize>(row + i) * rowBytes, k, stride, count, rowBytes, score);
    weighRow(scratch, row + i, d, count, padded, table);
    addValues(score, v, stride, count, rowBytes, sumsIn(scratch, d) + <usize>(row + i) * rowBytes);
  }
}

/** score[j] = q · k[j], four keys at a time. */
function dotKeys(q: usize, k: usize, stride: usize, count: i32, rowBytes: usize, score: usize): void {
  for (let key = 0; key < count; key += 4) {
    // Past the last key the last one stands in; weighRow masks its scores.
    const last = count - 1 - key;
    let k0 = k;
    let k1 = k + <usize>min(1, last) * stride;
    let k2 = k + <usize>min(2, last) * stride;
    let k3 = k + <usize>min(3, last) * stride;
    let s0 = f32x4.splat(0);
    let s1 = f32x4.splat(0);
    let s2 = f32x4.splat(0);
    let s3 = f32x4.splat(0);
    for (let c: usize = 0; c < rowBytes; c += 16) {
      const x = v128.load(q + c);
      s0 = madd(x, v128.load(k0 + c), s0);
      s1 = madd(x, v128.load(k1 + c), s1);
      s2 = madd(x, v128.load(k2 + c), s2);
      s3 = madd(x, v128.load(k3 + c), s3);
    }
    v128.store(score + ((<usize>key) << 2), sumLanesOf4(s0, s1, s2, s3));
    k += stride << 2;
  }
}

/** y += Σ_j score[j] v[j], eight columns at a time. */
function addValues(score: usize, v: usize, stride: usize, count: i32, rowBytes: usize, y: usize): void {
  for (let c: usize = 0; c < rowBytes; c += 32) {
    let even0 = v128.load(y + c);
    let even1 = v128.load(y + c, 16);
    let odd0 = f32x4.splat(0);
    let odd1 = f32x4.splat(0);
    let value = v + c;
    let weight = score;
    const end = score + ((<usize>(count & ~1)) << 2);
    while (weight < end) {
      const a = v128.load32_splat(weight);
      even0 = madd(a, v128.load(value), even0);
      even1 = madd(a, v128.load(value, 16), even1);
      value += stride;
      const b = v128.load32_splat(weight, 4);
      odd0 = madd(b, v128.load(value), odd0);
      odd1 = madd(b, v128.load(value, 16), odd1);
      value += stride;
      weight += 8;
    }
    if ((count & 1) != 0) {
      const a = v128.load32_splat(weight);
      even0 = madd(a, v128.load(value), even0);
      even1 = madd(a, v128.load(value, 16), even1);
    }
    v128.store(y + c, f32x4.add(even0, odd0));
    v128.store(y + c, f32x4.add(even1, odd1), 16);
  }
}
