/**
 * LayerNorm over rows: y = (x − mean) / sqrt(variance + eps) * weight + bias.
 *
 * Shapes: x, y [N, D], weight, bias [D].
 */
import { intArg, loadPart, madd, pointerArg, storePart, sumLanes64 } from './simd';

/** One tile: rows [tile * rowsPerTile, …). args: x, weight, bias, y, N, D, eps, rowsPerTile. */
export function layerNorm(args: usize, tile: i32, scratch: usize): void {
  const width = intArg(args, 5);
  const eps = load<f64>(args + 48);
  const perTile = intArg(args, 7);
  const end = min((tile + 1) * perTile, intArg(args, 4));
  for (let row = tile * perTile; row < end; row++) {
    const offset = (<usize>row * <usize>width) << 2;
    const x = pointerArg(args, 0) + offset;
    const mean = <f32>(sumOfRow(x, width) / <f64>width);
    const variance = squaresOfRow(x, mean, width) / <f64>width;
    const scale = <f32>(1.0 / sqrt(variance + eps));
    writeRow(x, mean, scale, pointerArg(args, 1), pointerArg(args, 2), pointerArg(args, 3) + offset, width);
  }
}

function sumOfRow(x: usize, width: i32): f64 {
  let sum = f32x4.splat(0);
  const bytes = (<usize>(width & ~3)) << 2;
  for (let i: usize = 0; i < bytes; i += 16) sum = f32x4.add(sum, v128.load(x + i));
  const left = width & 3;
  if (left > 0) sum = f32x4.add(sum, loadPart(x + bytes, left, 0));
  return sumLanes64(sum);
}

/** Σ (x − mean)² of a row. */
function squaresOfRow(x: usize, mean: f32, width: i32): f64 {
  let sum = f32x4.splat(0);
  const mean4 = f32x4.splat(mean);
  const bytes = (<usize>(width & ~3)) << 2;
  for (let i: usize = 0; i < bytes; i += 16) {
    const d = f32x4.sub(v128.load(x + i), mean4);
    sum = madd(d, d, sum);
  }
  const left = width & 3;
  if (left > 0) {
    const d = f32x4.sub(loadPart(x + bytes, left, mean), mean4);
    sum = madd(d, d, sum);
  }
  return sumLanes64(sum);
}

function writeRow(x: usize, mean: f32, scale: f32, weight: usize, bias: usize, y: usize, width: i32): void {
  const mean4 = f32x4.splat(mean);
  const scale4 = f32x4.splat(scale);
  const bytes = (<usize>(width & ~3)) << 2;
  for (let i: usize = 0; i < bytes; i += 16) {
    const normed = f32x4.mul(f32x4.sub(v128.load(x + i), mean4), scale4);
    v128.store(y + i, madd(normed, v128.load(weight + i), v128.load(bias + i)));
  }
  const left = width & 3;
  if (left == 0) return;
  const normed = f32x4.mul(f32x4.sub(loadPart(x + bytes, left, 0), mean4), scale4);
  storePart(y + bytes, left, madd(normed, loadPart(weight + bytes, left, 0), loadPart(bias + bytes, left, 0)));
}
