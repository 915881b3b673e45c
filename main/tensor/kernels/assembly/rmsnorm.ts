/**
 * RMSNorm over rows: y = x * r * weight, r = 1 / sqrt(mean(x²) + eps), and its two gradients.
 *
 * Shapes: x, y, dy [N, D], weight [D].
 */
import { addRow } from './rows';
import { intArg, loadPart, madd, pointerArg, storePart, sumLanes64 } from './simd';

/**
 * One tile: rows [tile * rowsPerTile, …). args: x, weight, y, N, D, eps, rowsPerTile, change. Where there is a change
 * [N, D] (its address isn't 0), it is added to x before.
 */
export function rmsNorm(args: usize, tile: i32, scratch: usize): void {
  const x = pointerArg(args, 0);
  const weight = pointerArg(args, 1);
  const y = pointerArg(args, 2);
  const width = intArg(args, 4);
  const eps = load<f64>(args + 40);
  const perTile = intArg(args, 6);
  const change = pointerArg(args, 7);
  const first = tile * perTile;
  const end = min(first + perTile, intArg(args, 3));
  for (let row = first; row < end; row++) {
    const offset = <usize>row * <usize>width * 4;
    if (change != 0) addRow(change + offset, x + offset, width);
    const scale = <f32>inverseRms(x + offset, width, eps);
    scaleRow(x + offset, weight, y + offset, width, scale);
  }
}

/** 1 / sqrt(mean square + eps) of one row. */
function inverseRms(x: usize, width: i32, eps: f64): f64 {
  return 1.0 / sqrt(dotRow(x, x, width) / <f64>width + eps);
}

/** Inner product of two rows. */
function dotRow(a: usize, b: usize, width: i32): f64 {
  let s0 = f32x4.splat(0);
  let s1 = f32x4.splat(0);
  let s2 = f32x4.splat(0);
  let s3 = f32x4.splat(0);
  const end16 = a + ((<usize>(width & ~15)) << 2);
  while (a < end16) {
    s0 = madd(v128.load(a), v128.load(b), s0);
    s1 = madd(v128.load(a, 16), v128.load(b, 16), s1);
    s2 = madd(v128.load(a, 32), v128.load(b, 32), s2);
    s3 = madd(v128.load(a, 48), v128.load(b, 48), s3);
    a += 64;
    b += 64;
  }
  let left = width & 15;
  while (left >= 4) {
    s0 = madd(v128.load(a), v128.load(b), s0);
    a += 16;
    b += 16;
    left -= 4;
  }
  if (left > 0) s1 = madd(loadPart(a, left, 0), loadPart(b, left, 0), s1);
  return sumLanes64(f32x4.add(f32x4.add(s0, s1), f32x4.add(s2, s3)));
}

function scaleRow(x: usize, weight: usize, y: usize, width: i32, scale: f32): void {
  const factor = f32x4.splat(scale);
  const bytes = (<usize>(width & ~3)) << 2;
  for (let i: usize = 0; i < bytes; i += 16) {
    v128.store(y + i, f32x4.mul(f32x4.mul(v128.load(x + i), factor), v128.load(weight + i)));
  }
  const left = width & 3;
  if (left > 0) {
    const product = f32x4.mul(f32x4.mul(loadPart(x + bytes, left, 0), factor), loadPart(weight + bytes, left, 0));
    storePart(y + bytes, left, product);
  }
}

/** dx = r (dy·w) − x r³/D Σ(dy·w·x). args: dy, x, weight, dx, N, D, eps, rowsPerTile. */
export function rmsNormGradX(args: usize, tile: i32, scratch: usize): void {
  const weight = pointerArg(args, 2);
  const width = intArg(args, 5);
  const eps = load<f64>(args + 48);
  const perTile = intArg(args, 7);
  const first = tile * perTile;
  const end = min(first + perTile, intArg(args, 4));
  for (let row = first; row < end; row++) {
    const offset = <usize>row * <usize>width * 4;
    const dy = pointerArg(args, 0) + offset;
    const x = pointerArg(args, 1) + offset;
    const r = inverseRms(x, width, eps);
    const projection = (r * r * r * weightedDot(dy, x, weight, width)) / <f64>width;
    gradRow(dy, x, weight, pointerArg(args, 3) + offset, width, <f32>r, <f32>-projection);
  }
}

/** Σ a·b·c over one row. */
function weightedDot(a: usize, b: usize, c: usize, width: i32): f64 {
  let s0 = f32x4.splat(0);
  let s1 = f32x4.splat(0);
  const bytes8 = (<usize>(width & ~7)) << 2;
  let i: usize = 0;
  for (; i < bytes8; i += 32) {
    s0 = madd(f32x4.mul(v128.load(a + i), v128.load(c + i)), v128.load(b + i), s0);
    s1 = madd(f32x4.mul(v128.load(a + i, 16), v128.load(c + i, 16)), v128.load(b + i, 16), s1);
  }
  let left = width & 7;
  if (left >= 4) {
    s0 = madd(f32x4.mul(v128.load(a + i), v128.load(c + i)), v128.load(b + i), s0);
    i += 16;
    left -= 4;
  }
  if (left > 0) {
    s1 = madd(f32x4.mul(loadPart(a + i, left, 0), loadPart(c + i, left, 0)), loadPart(b + i, left, 0), s1);
  }
  return sumLanes64(f32x4.add(s0, s1));
}

function gradRow(dy: usize, x: usize, weight: usize, dx: usize, width: i32, r: f32, projection: f32): void {
  const r4 = f32x4.splat(r);
  const projection4 = f32x4.splat(projection);
  const bytes = (<usize>(width & ~3)) << 2;
  for (let i: usize = 0; i < bytes; i += 16) {
    const scaled = f32x4.mul(f32x4.mul(v128.load(dy + i), v128.load(weight + i)), r4);
    v128.store(dx + i, madd(v128.load(x + i), projection4, scaled));
  }
  const left = width & 3;
  if (left > 0) {
    const scaled = f32x4.mul(f32x4.mul(loadPart(dy + bytes, left, 0), loadPart(weight + bytes, left, 0)), r4);
    storePart(dx + bytes, left, madd(loadPart(x + bytes, left, 0), projection4, scaled));
  }
}

/**
 * A chunk's part of dw = Σ_n dy·x·r: chunk `tile` sums its rows into its own row of `partial`, so that the sum over
 * chunks can follow in a fixed order. args: dy, x, partial [chunks, D], N, D, eps, rowsPerChunk.
 */
export function rmsNormGradWeight(args: usize, tile: i32, scratch: usize): void {
  const width = intArg(args, 4);
  const eps = load<f64>(args + 40);
  const perChunk = intArg(args, 6);
  const first = tile * perChunk;
  const end = min(first + perChunk, intArg(args, 3));
  const bytes = <usize>width * 4;
  const sum = pointerArg(args, 2) + <usize>tile * bytes;
  memory.fill(sum, 0, bytes);
  for (let row = first; row < end; row++) {
    const dy = pointerArg(args, 0) + <usize>row * bytes;
    const x = pointerArg(args, 1) + <usize>row * bytes;
    addProduct(sum, dy, x, width, <f32>inverseRms(x, width, eps));
  }
}

function addProduct(sum: usize, a: usize, b: usize, width: i32, factor: f32): void {
  const factor4 = f32x4.splat(factor);
  const bytes = (<usize>(width & ~3)) << 2;
  for (let i: usize = 0; i < bytes; i += 16) {
    v128.store(sum + i, madd(f32x4.mul(v128.load(a + i), factor4), v128.load(b + i), v128.load(sum + i)));
  }
  const left = width & 3;
  if (left > 0) {
    const product = f32x4.mul(loadPart(a + bytes, left, 0), factor4);
    storePart(sum + bytes, left, madd(product, loadPart(b + bytes, left, 0), loadPart(sum + bytes, left, 0)));
  }
}

/** y[j] = Σ_c partial[c, j], c ascending. A tile is a run of columns. args: partial, y, chunks, D, columnsPerTile. */
export function sumChunks(args: usize, tile: i32, scratch: usize): void {
  const partial = pointerArg(args, 0);
  const y = pointerArg(args, 1);
  const chunks = intArg(args, 2);
  const width = intArg(args, 3);
  const perTile = intArg(args, 4);
  const end = min((tile + 1) * perTile, width);
  for (let column = tile * perTile; column < end; column++) {
    let sum: f64 = 0;
    for (let chunk = 0; chunk < chunks; chunk++) {
      sum += <f64>load<f32>(partial + ((<usize>chunk * <usize>width + <usize>column) << 2));
    }
    store<f32>(y + ((<usize>column) << 2), <f32>sum);
  }
}
