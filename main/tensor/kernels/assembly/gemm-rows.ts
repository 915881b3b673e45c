/**
 * The matrix product C = alpha·A·Bᵀ (+ C) for eight rows of A at a time, B contiguous along K and streamed once, row by
 * row: generation for a group of sequences against weights [out, in]. One long stream that feeds eight products is
 * what the hardware's prefetching can keep up with; eight rows of A, packed, stay in the first-level cache.
 */
import { floatArg, intArg, madd, pointerArg, sumLanesOf4 } from './simd';

/**
 * Packs A, contiguous along K, for `gemmRows`: blocks of eight rows, each stored [K/8, 8 rows, 8 steps], missing rows
 * and steps as zeros. Tile: a block. Parameters: A, its row stride (elements), packed A, M, K.
 */
export function gemmRowsPack(args: usize, tile: i32, scratch: usize): void {
  const aRow = <usize>intArg(args, 1) << 2;
  const depth = intArg(args, 4);
  const steps = (depth + 7) & ~7;
  const block = pointerArg(args, 2) + <usize>tile * steps * 32;
  const rows = min(8, intArg(args, 3) - tile * 8);
  if (rows < 8 || steps != depth) memory.fill(block, 0, <usize>steps << 5);
  for (let row = 0; row < rows; row++) {
    let from = pointerArg(args, 0) + <usize>(tile * 8 + row) * aRow;
    let to = block + (<usize>row << 5);
    let k = 0;
    for (; k + 8 <= depth; k += 8) {
      v128.store(to, v128.load(from));
      v128.store(to, v128.load(from, 16), 16);
      from += 32;
      to += 256;
    }
    memory.copy(to, from, <usize>(depth - k) << 2);
  }
}

/**
 * Tile: a range of B's rows. Parameters: packed A; B, its row stride; C, its row and column strides (elements); M, N,
 * K; rows of B a tile; alpha, accumulate; 1 for 256-bit vectors.
 */
export function gemmRows(args: usize, tile: i32, scratch: usize): void {
  const packed = pointerArg(args, 0);
  const c = pointerArg(args, 3);
  const bRow = <usize>intArg(args, 2) << 2;
  const cRow = <usize>intArg(args, 4) << 2;
  const cColumn = <usize>intArg(args, 5) << 2;
  const rows = intArg(args, 6);
  const depth = intArg(args, 8);
  const span = intArg(args, 9);
  const alpha = floatArg(args, 10);
  const add = intArg(args, 11) != 0;
  const wide = intArg(args, 12) != 0;
  const first = tile * span;
  const last = min(intArg(args, 7), first + span);

  const whole = depth & ~7;
  const blockBytes = <usize>((depth + 7) & ~7) << 5;
  const rest = scratch;
  const sums = scratch + 64;
  for (let column = first; column < last; column++) {
    const b = pointerArg(args, 1) + <usize>column * bRow;
    if (whole < depth) copyRest(b + (<usize>whole << 2), depth - whole, rest);
    for (let row = 0; row < rows; row += 8) {
      const a = packed + <usize>(row >> 3) * blockBytes;
      if (wide) eightRowsWide(a, b, whole, sums);
      else eightRows(a, b, whole, sums);
      if (whole < depth) eightRowsRest(a + (<usize>whole << 5), rest, sums, wide);
      const to = c + <usize>row * cRow + <usize>column * cColumn;
      finish(sums, wide, to, cRow, min(8, rows - row), alpha, add);
    }
  }
}

/** The steps past the last eight, with zeros after them. */
function copyRest(from: usize, count: i32, rest: usize): void {
  v128.store(rest, f32x4.splat(0));
  v128.store(rest, f32x4.splat(0), 16);
  for (let k = 0; k < count; k++) store<f32>(rest + (<usize>k << 2), load<f32>(from + (<usize>k << 2)));
}

function eightRowsRest(a: usize, rest: usize, sums: usize, wide: bool): void {
  const x = v128.load(rest);
  const y = v128.load(rest, 16);
  const lanes: usize = wide ? 32 : 16;
  for (let row = 0; row < 8; row++) {
    v128.store(sums, madd(v128.load(a), x, madd(v128.load(a, 16), y, v128.load(sums))));
    a += 32;
    sums += lanes;
  }
}

/** Adds up the lanes of each row and brings the results into a column of C. */
function finish(sums: usize, wide: bool, to: usize, cRow: usize, count: i32, alpha: f32, add: bool): void {
  let low: v128;
  let high: v128;
  if (wide) {
    low = sumLanesOf4(bothHalves(sums), bothHalves(sums + 32), bothHalves(sums + 64), bothHalves(sums + 96));
    high = sumLanesOf4(bothHalves(sums + 128), bothHalves(sums + 160), bothHalves(sums + 192), bothHalves(sums + 224));
  } else {
    low = sumLanesOf4(v128.load(sums), v128.load(sums, 16), v128.load(sums, 32), v128.load(sums, 48));
    high = sumLanesOf4(v128.load(sums, 64), v128.load(sums, 80), v128.load(sums, 96), v128.load(sums, 112));
  }
  v128.store(sums, f32x4.mul(f32x4.splat(alpha), low));
  v128.store(sums, f32x4.mul(f32x4.splat(alpha), high), 16);
  for (let row = 0; row < count; row++) {
    const value = load<f32>(sums + (<usize>row << 2));
    store<f32>(to, add ? load<f32>(to) + value : value);
    to += cRow;
  }
}

// @ts-ignore: decorator
@inline
function bothHalves(sums: usize): v128 {
  return f32x4.add(v128.load(sums), v128.load(sums, 16));
}

/** Eight accumulators of four lanes. */
function eightRows(a: usize, b: usize, depth: i32, sums: usize): void {
  let c0 = f32x4.splat(0);
  let c1 = f32x4.splat(0);
  let c2 = f32x4.splat(0);
  let c3 = f32x4.splat(0);
  let c4 = f32x4.splat(0);
  let c5 = f32x4.splat(0);
  let c6 = f32x4.splat(0);
  let c7 = f32x4.splat(0);
  for (let k = 0; k < depth; k += 8) {
    const x = v128.load(b);
    const y = v128.load(b, 16);
    c0 = madd(v128.load(a), x, c0);
    c1 = madd(v128.load(a, 32), x, c1);
    c2 = madd(v128.load(a, 64), x, c2);
    c3 = madd(v128.load(a, 96), x, c3);
    c4 = madd(v128.load(a, 128), x, c4);
    c5 = madd(v128.load(a, 160), x, c5);
    c6 = madd(v128.load(a, 192), x, c6);
    c7 = madd(v128.load(a, 224), x, c7);
    c0 = madd(v128.load(a, 16), y, c0);
    c1 = madd(v128.load(a, 48), y, c1);
    c2 = madd(v128.load(a, 80), y, c2);
    c3 = madd(v128.load(a, 112), y, c3);
    c4 = madd(v128.load(a, 144), y, c4);
    c5 = madd(v128.load(a, 176), y, c5);
    c6 = madd(v128.load(a, 208), y, c6);
    c7 = madd(v128.load(a, 240), y, c7);
    a += 256;
    b += 32;
  }
  v128.store(sums, c0);
  v128.store(sums, c1, 16);
  v128.store(sums, c2, 32);
  v128.store(sums, c3, 48);
  v128.store(sums, c4, 64);
  v128.store(sums, c5, 80);
  v128.store(sums, c6, 96);
  v128.store(sums, c7, 112);
}

/** The same with eight lanes each, for V8's revectorizer. */
function eightRowsWide(a: usize, b: usize, depth: i32, sums: usize): void {
  let c0 = f32x4.splat(0);
  let d0 = f32x4.splat(0);
  let c1 = f32x4.splat(0);
  let d1 = f32x4.splat(0);
  let c2 = f32x4.splat(0);
  let d2 = f32x4.splat(0);
  let c3 = f32x4.splat(0);
  let d3 = f32x4.splat(0);
  let c4 = f32x4.splat(0);
  let d4 = f32x4.splat(0);
  let c5 = f32x4.splat(0);
  let d5 = f32x4.splat(0);
  let c6 = f32x4.splat(0);
  let d6 = f32x4.splat(0);
  let c7 = f32x4.splat(0);
  let d7 = f32x4.splat(0);
  for (let k = 0; k < depth; k += 8) {
    const x = v128.load(b);
    const y = v128.load(b, 16);
    c0 = madd(v128.load(a), x, c0);
    d0 = madd(v128.load(a, 16), y, d0);
    c1 = madd(v128.load(a, 32), x, c1);
    d1 = madd(v128.load(a, 48), y, d1);
    c2 = madd(v128.load(a, 64), x, c2);
    d2 = madd(v128.load(a, 80), y, d2);
    c3 = madd(v128.load(a, 96), x, c3);
    d3 = madd(v128.load(a, 112), y, d3);
    c4 = madd(v128.load(a, 128), x, c4);
    d4 = madd(v128.load(a, 144), y, d4);
    c5 = madd(v128.load(a, 160), x, c5);
    d5 = madd(v128.load(a, 176), y, d5);
    c6 = madd(v128.load(a, 192), x, c6);
    d6 = madd(v128.load(a, 208), y, d6);
    c7 = madd(v128.load(a, 224), x, c7);
    d7 = madd(v128.load(a, 240), y, d7);
    a += 256;
    b += 32;
  }
  v128.store(sums, c0);
  v128.store(sums, d0, 16);
  v128.store(sums, c1, 32);
  v128.store(sums, d1, 48);
  v128.store(sums, c2, 64);
  v128.store(sums, d2, 80);
  v128.store(sums, c3, 96);
  v128.store(sums, d3, 112);
  v128.store(sums, c4, 128);
  v128.store(sums, d4, 144);
  v128.store(sums, c5, 160);
  v128.store(sums, d5, 176);
  v128.store(sums, c6, 192);
  v128.store(sums, d6, 208);
  v128.store(sums, c7, 224);
  v128.store(sums, d7, 240);
}
