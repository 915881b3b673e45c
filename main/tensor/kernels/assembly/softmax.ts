/**
 * Log-probability of one chosen token and entropy per row of logits, and the gradient to the logits. The logits come in
 * tiles of columns (a stretch of the vocabulary) and are already divided by the temperature.
 *
 * Running state of a row, four f64: largest logit m so far, Σ e^(x−m), Σ e^(x−m) (x−m), the target's logit.
 */
import { exp1, expBelow, expTable, floatArg, intArg, loadPart, log64, madd, maxLanes, pairsAfter, pointerArg, storePair, storePart, sumLanes64 } from './simd';

/** Replaces a logit of −Infinity relative to its row, so that its probability 0 times it is 0 and not NaN. */
const FAR_BELOW: f32 = -1e4;

/**
 * Folds one tile of logits into the state of each row; the last tile writes the results. A tile of work is a run of
 * rows. args: logits, stride (elements), rows, columns, first column, targets, state, logp, entropy, lse, last (0 or
 * 1), rowsPerTile.
 */
export function logSoftmaxTile(args: usize, tile: i32, scratch: usize): void {
  const stride = pointerArg(args, 1) << 2;
  const columns = intArg(args, 3);
  const firstColumn = intArg(args, 4);
  const last = intArg(args, 10) != 0;
  const perTile = intArg(args, 11);
  const table = expTable(scratch);
  const end = min((tile + 1) * perTile, intArg(args, 2));
  for (let row = tile * perTile; row < end; row++) {
    const at = <usize>row << 2;
    const logits = pointerArg(args, 0) + <usize>row * stride;
    const state = pointerArg(args, 6) + (<usize>row << 5);
    if (firstColumn == 0) startRow(state);
    addColumns(logits, columns, state, table);
    const target = load<i32>(pointerArg(args, 5) + at) - firstColumn;
    if (target >= 0 && target < columns) store<f64>(state, <f64>load<f32>(logits + (<usize>target << 2)), 24);
    if (last) finishRow(state, pointerArg(args, 7) + at, pointerArg(args, 8) + at, pointerArg(args, 9) + at);
  }
}

function startRow(state: usize): void {
  store<f64>(state, -Infinity);
  store<f64>(state, 0, 8);
  store<f64>(state, 0, 16);
  // A target outside the vocabulary is never matched, and its result is NaN.
  store<f64>(state, NaN, 24);
}

function addColumns(logits: usize, columns: i32, state: usize, table: usize): void {
  const pairs = pairsAfter(table);
  const before = load<f64>(state);
  const largest = max(largestOf(logits, columns, pairs), <f32>before);
  const shift = f32x4.splat(largest);
  const floor = f32x4.splat(FAR_BELOW);
  let sum0 = f32x4.splat(0);
  let sum1 = f32x4.splat(0);
  let moment0 = f32x4.splat(0);
  let moment1 = f32x4.splat(0);
  const end = logits + (<usize>(columns & ~7) << 2);
  let p = logits;
  for (; p < end; p += 32) {
    const x0 = f32x4.pmax(f32x4.sub(v128.load(p), shift), floor);
    const x1 = f32x4.pmax(f32x4.sub(v128.load(p, 16), shift), floor);
    const e0 = expBelow(x0, table);
    const e1 = expBelow(x1, table);
    sum0 = f32x4.add(sum0, e0);
    sum1 = f32x4.add(sum1, e1);
    moment0 = madd(e0, x0, moment0);
    moment1 = madd(e1, x1, moment1);
  }
  storePair(pairs, sum0, sum1);
  storePair(pairs + 32, moment0, moment1);
  sum0 = v128.load(pairs);
  moment0 = v128.load(pairs, 32);
  for (let left = columns & 7; left > 0; left -= 4) {
    const x0 = left >= 4 ? v128.load(p) : loadPart(p, left, -Infinity);
    const x = f32x4.pmax(f32x4.sub(x0, shift), floor);
    const e = expBelow(x, table);
    sum0 = f32x4.add(sum0, e);
    moment0 = madd(e, x, moment0);
    p += 16;
  }
  v128.store(pairs, sum0);
  v128.store(pairs, moment0, 32);
  rescaleState(state, before, <f64>largest, table);
  store<f64>(state, load<f64>(state, 8) + sumLanes64(f32x4.add(v128.load(pairs), v128.load(pairs, 16))), 8);
  store<f64>(state, load<f64>(state, 16) + sumLanes64(f32x4.add(v128.load(pairs, 32), v128.load(pairs, 48))), 16);
}

function largestOf(logits: usize, columns: i32, pairs: usize): f32 {
  let m0 = f32x4.splat(-Infinity);
  let m1 = m0;
  const end = logits + (<usize>(columns & ~7) << 2);
  let p = logits;
  for (; p < end; p += 32) {
    m0 = f32x4.pmax(m0, v128.load(p));
    m1 = f32x4.pmax(m1, v128.load(p, 16));
  }
  storePair(pairs, m0, m1);
  m0 = f32x4.pmax(v128.load(pairs), v128.load(pairs, 16));
  for (let left = columns & 7; left > 0; left -= 4) {
    m0 = f32x4.pmax(m0, left >= 4 ? v128.load(p) : loadPart(p, left, -Infinity));
    p += 16;
  }
  return maxLanes(m0);
}

/** Rescales the state's sums to a new largest logit. */
function rescaleState(state: usize, before: f64, largest: f64, table: usize): void {
  const sum = load<f64>(state, 8);
  store<f64>(state, largest);
  if (sum == 0 || before == largest) return;
  const drop = before - largest;
  const shrink = <f64>exp1(<f32>drop, table);
  store<f64>(state, shrink * sum, 8);
  store<f64>(state, shrink * (load<f64>(state, 16) + drop * sum), 16);
}

function finishRow(state: usize, logp: usize, entropy: usize, lse: usize): void {
  const sum = load<f64>(state, 8);
  const logSum = log64(sum);
  const total = load<f64>(state) + logSum;
  store<f32>(logp, <f32>(load<f64>(state, 24) - total));
  store<f32>(entropy, <f32>(logSum - load<f64>(state, 16) / sum));
  store<f32>(lse, <f32>total);
}

/**
 * dLogits = (dlogp (onehot − p) − dentropy p (log p + entropy)) / temperature over one tile of columns, which may be
 * written in place. args: logits, stride, rows, columns, first column, targets, dlogp, dentropy, lse, entropy,
 * 1 / temperature, dLogits, stride of dLogits, rowsPerTile.
 */
export function logSoftmaxGradTile(args: usize, tile: i32, scratch: usize): void {
  const columns = intArg(args, 3);
  const perTile = intArg(args, 13);
  const end = min((tile + 1) * perTile, intArg(args, 2));
  const factor = floatArg(args, 10);
  const table = expTable(scratch);
  for (let row = tile * perTile; row < end; row++) {
    const at = <usize>row << 2;
    const logits = pointerArg(args, 0) + ((<usize>row * pointerArg(args, 1)) << 2);
    const dLogits = pointerArg(args, 11) + ((<usize>row * pointerArg(args, 12)) << 2);
    const dlogp = load<f32>(pointerArg(args, 6) + at) * factor;
    const dentropy = load<f32>(pointerArg(args, 7) + at) * factor;
    const lse = load<f32>(pointerArg(args, 8) + at);
    gradColumns(logits, dLogits, columns, lse, dlogp, dentropy, load<f32>(pointerArg(args, 9) + at), table);
    const target = load<i32>(pointerArg(args, 5) + at) - intArg(args, 4);
    if (target < 0 || target >= columns) continue;
    const cell = dLogits + (<usize>target << 2);
    store<f32>(cell, load<f32>(cell) + dlogp);
  }
}

function gradColumns(
  logits: usize,
  dLogits: usize,
  columns: i32,
  lse: f32,
  dlogp: f32,
  dentropy: f32,
  entropy: f32,
  table: usize,
): void {
  const lse4 = f32x4.splat(lse);
  const dEntropy4 = f32x4.splat(-dentropy);
  const base4 = f32x4.splat(-dlogp - dentropy * entropy);
  const bytes = <usize>(columns & ~3) << 2;
  const floor4 = f32x4.splat(FAR_BELOW);
  let i: usize = 0;
  for (; i + 32 <= bytes; i += 32) {
    const a = gradOf(v128.load(logits + i), lse4, dEntropy4, base4, floor4, table);
    const b = gradOf(v128.load(logits + i, 16), lse4, dEntropy4, base4, floor4, table);
    v128.store(dLogits + i, a);
    v128.store(dLogits + i, b, 16);
  }
  if (i < bytes) v128.store(dLogits + i, gradOf(v128.load(logits + i), lse4, dEntropy4, base4, floor4, table));
  const left = columns & 3;
  if (left > 0) storePart(dLogits + bytes, left, gradOf(loadPart(logits + bytes, left, 0), lse4, dEntropy4, base4, floor4, table));
}

/** p (−dlogp − dentropy (log p + entropy)), without the target's own term. */
// @ts-ignore: decorator
@inline
function gradOf(logits: v128, lse: v128, dEntropy: v128, base: v128, floor: v128, table: usize): v128 {
  const logp = f32x4.pmax(f32x4.sub(logits, lse), floor);
  return f32x4.mul(expBelow(logp, table), madd(logp, dEntropy, base));
}
