/**
 * Sampling of one token a row from softmax(logits / temperature), by the inverse of its distribution function at a
 * given uniform number.
 */
import { expBelow, expTable, intArg, loadPart, log64, maxLanes, pointerArg, sumLanes64 } from './simd';

/** Columns whose unnormalised probabilities are summed together; the search then steps over blocks, not tokens. */
const BLOCK: i32 = 256;

/** A tile is a row. args: logits, uniforms, ids, logp, V, temperature. */
export function sampleRow(args: usize, tile: i32, scratch: usize): void {
  const width = intArg(args, 4);
  const temperature = load<f64>(args + 40);
  const at = <usize>tile << 2;
  const logits = pointerArg(args, 0) + <usize>tile * (<usize>width << 2);
  const factor: f32 = temperature > 0 ? <f32>(1.0 / temperature) : 1.0;
  const largest = largestOf(logits, width);
  const table = expTable(scratch);
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

function largestOf(logits: usize, width: i32): f32 {
  let largest = f32x4.splat(-Infinity);
  const end = logits + (<usize>(width & ~3) << 2);
  let p = logits;
  for (; p < end; p += 16) largest = f32x4.pmax(largest, v128.load(p));
  if ((width & 3) != 0) largest = f32x4.pmax(largest, loadPart(p, width & 3, -Infinity));
  return maxLanes(largest);
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

function sumBlock(logits: usize, count: i32, largest: f32, factor: f32, table: usize): f64 {
  const shift = f32x4.splat(largest);
  const factor4 = f32x4.splat(factor);
  let sum = f32x4.splat(0);
  const end = logits + (<usize>(count & ~3) << 2);
  for (; logits < end; logits += 16) sum = f32x4.add(sum, massAt(v128.load(logits), shift, factor4, table));
  if ((count & 3) != 0) sum = f32x4.add(sum, massAt(loadPart(logits, count & 3, -Infinity), shift, factor4, table));
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
  const shift = f32x4.splat(largest);
  const factor4 = f32x4.splat(factor);
  // Also the answer where the block's tokens, summed one by one, fall short of the block's sum.
  let lastNonZero = first;
  for (let id = first; id < end; id++) {
    const x = f32x4.splat(load<f32>(logits + (<usize>id << 2)));
    const mass = f32x4.extract_lane(massAt(x, shift, factor4, table), 0);
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
