/**
 * Sampling of one token a row from softmax(logits / temperature), by the inverse of its distribution function at a
 * given uniform number.
 */
import { expBelow, expTable, intArg, loadPart, log64, maxLanes, pairsAfter, pointerArg, storePair, sumLanes64 } from './simd';

/** Columns whose unnormalised probabilities are summed together; the search then steps over blocks, not tokens. */
const BLOCK: i32 = 256;

/** A tile is a row. args: logits, uniforms, ids, logp, V, temperature. */
export function sampleRow(args: usize, tile: i32, scratch: usize): void {
  const width = intArg(args, 4);
  const temperature = load<f64>(args + 40);
  const at = <usize>tile << 2;
  const logits = pointerArg(args, 0) + <usize>tile * (<usize>width << 2);
  const factor: f32 = temperature > 0 ? <f32>(1.0 / temperature) : 1.0;
  const table = expTable(scratch);
  const largest = largestOf(logits, width, pairsAfter(table));
  const total = sumBlocks(logits, width, largest, factor, scratch, table);
  let id = 0;
  if (temperature > 0) {
    const threshold = <f64>load<f32>(pointerArg(args, 1) + at) * total;
    id = search(logits, width, largest, factor, threshold, scratch, table);
  } else {
    id = firstEqual(logits, width, largest);
  }
  const distance = (<f64>load<f32>(logits + (<usize>id << 2)) - <f64>largest) * <f64>factor;
  store<i32>(pointerArg(args, 2) + at, id);
  store<f32>(pointerArg(args, 3) + at, <f32>(total > 0 ? distance - log64(total) : NaN));
}

function largestOf(logits: usize, width: i32, pairs: usize): f32 {
  let even = f32x4.splat(-Infinity);
  let odd = even;
  const end = logits + (<usize>(width & ~7) << 2);
  let p = logits;
  for (; p < end; p += 32) {
    even = f32x4.pmax(even, v128.load(p));
    odd = f32x4.pmax(odd, v128.load(p, 16));
  }
  storePair(pairs, even, odd);
  let largest = f32x4.pmax(v128.load(pairs), v128.load(pairs, 16));
  if ((width & 4) != 0) {
    largest = f32x4.pmax(largest, v128.load(p));
    p += 16;
  }
  if ((width & 3) != 0) largest = f32x4.pmax(largest, loadPart(p, width & 3, -Infinity));
  return maxLanes(largest);
}

/** The probabilities of a block are kept before the constants, as far as scratch goes. */
// @ts-ignore: decorator
@inline
function massesBefore(table: usize): usize {
  return table - (<usize>BLOCK << 2);
}

/** Stores each block's sum of unnormalised probabilities as f64 in `sums` and returns their total. */
function sumBlocks(logits: usize, width: i32, largest: f32, factor: f32, sums: usize, table: usize): f64 {
  let total: f64 = 0;
  for (let first = 0; first < width; first += BLOCK) {
    const sum = sumBlock(logits + (<usize>first << 2), min(BLOCK, width - first), largest, factor, table);
    store<f64>(sums, sum);
    sums += 8;
    total += sum;
  }
  return total;
}

/** The sum of a block's unnormalised probabilities, which it leaves in `massesBefore`. */
function sumBlock(logits: usize, count: i32, largest: f32, factor: f32, table: usize): f64 {
  const shift = f32x4.splat(largest);
  const factor4 = f32x4.splat(factor);
  let sum = f32x4.splat(0);
  let mass = massesBefore(table);
  const end = logits + (<usize>(count & ~7) << 2);
  for (; logits < end; logits += 32) {
    const a = massAt(v128.load(logits), shift, factor4, table);
    const b = massAt(v128.load(logits, 16), shift, factor4, table);
    storePair(mass, a, b);
    sum = f32x4.add(f32x4.add(sum, a), b);
    mass += 32;
  }
  for (let left = count & 7; left > 0; left -= 4) {
    const x = left >= 4 ? v128.load(logits) : loadPart(logits, left, -Infinity);
    const a = massAt(x, shift, factor4, table);
    v128.store(mass, a);
    sum = f32x4.add(sum, a);
    logits += 16;
    mass += 16;
  }
  return sumLanes64(sum);
}

// @ts-ignore: decorator
@inline
function massAt(logits: v128, shift: v128, factor: v128, table: usize): v128 {
  return expBelow(f32x4.mul(f32x4.sub(logits, shift), factor), table);
}

/** The first token at which the running sum of unnormalised probabilities exceeds the threshold. */
function search(logits: usize, width: i32, largest: f32, factor: f32, threshold: f64, sums: usize, table: usize): i32 {
  let before: f64 = 0;
  let chosen = 0;
  // Rounding may leave the threshold at the total itself: then the last block with a sum above 0 holds the token.
  let beforeChosen: f64 = 0;
  for (let first = 0; first < width; first += BLOCK) {
    const sum = load<f64>(sums + ((<usize>first / <usize>BLOCK) << 3));
    if (sum > 0) {
      chosen = first;
      beforeChosen = before;
    }
    before += sum;
    if (before > threshold) break;
  }
  return searchBlock(logits, chosen, min(chosen + BLOCK, width), largest, factor, threshold, beforeChosen, table);
}

function searchBlock(
  logits: usize,
  first: i32,
  end: i32,
  largest: f32,
  factor: f32,
  threshold: f64,
  before: f64,
  table: usize,
): i32 {
  sumBlock(logits + (<usize>first << 2), end - first, largest, factor, table);
  let at = massesBefore(table);
  // Also the answer where the block's tokens, summed one by one, fall short of the block's sum.
  let lastNonZero = first;
  for (let id = first; id < end; id++) {
    const mass = load<f32>(at);
    at += 4;
    if (!(mass > 0)) continue;
    lastNonZero = id;
    before += <f64>mass;
    if (before > threshold) return id;
  }
  return lastNonZero;
}

function firstEqual(logits: usize, width: i32, value: f32): i32 {
  for (let id = 0; id < width; id++) {
    if (load<f32>(logits + (<usize>id << 2)) == value) return id;
  }
  return 0;
}
