/**
 * GELU, elementwise: y = x/2 * (1 + erf(x/√2)), with erf as a quotient of polynomials (as in Eigen; within 1e-7).
 */
import { intArg, loadPart, madd, pointerArg, storePart } from './simd';

/** args: x, y, elements, elementsPerTile (a multiple of 4). */
export function gelu(args: usize, tile: i32, scratch: usize): void {
  const perTile = intArg(args, 3);
  const count = min(perTile, intArg(args, 2) - tile * perTile);
  const offset = (<usize>tile * <usize>perTile) << 2;
  const x = pointerArg(args, 0) + offset;
  const y = pointerArg(args, 1) + offset;
  const bytes = (<usize>(count & ~3)) << 2;
  for (let i: usize = 0; i < bytes; i += 16) v128.store(y + i, gelu4(v128.load(x + i)));
  const left = count & 3;
  if (left > 0) storePart(y + bytes, left, gelu4(loadPart(x + bytes, left, 0)));
}

// @ts-ignore: decorator
@inline
function gelu4(x: v128): v128 {
  const half = f32x4.mul(x, f32x4.splat(0.5));
  return madd(half, erf4(f32x4.mul(x, f32x4.splat(0.7071067811865476))), half);
}

/** Beyond ±4 it is ±1. NaN stays NaN. */
// @ts-ignore: decorator
@inline
function erf4(x: v128): v128 {
  const z = f32x4.pmax(f32x4.pmin(x, f32x4.splat(4)), f32x4.splat(-4));
  const s = f32x4.mul(z, z);
  let p = madd(f32x4.splat(-2.72614225801306e-10), s, f32x4.splat(2.77068142495902e-8));
  p = madd(p, s, f32x4.splat(-2.10102402082508e-6));
  p = madd(p, s, f32x4.splat(-5.69250639462346e-5));
  p = madd(p, s, f32x4.splat(-7.3499063032685e-4));
  p = madd(p, s, f32x4.splat(-2.954599803854025e-3));
  p = madd(p, s, f32x4.splat(-1.60960333262415e-2));
  let q = madd(f32x4.splat(-1.45660718464996e-5), s, f32x4.splat(-2.13374055278905e-4));
  q = madd(q, s, f32x4.splat(-1.68282697438203e-3));
  q = madd(q, s, f32x4.splat(-7.37332916720468e-3));
  q = madd(q, s, f32x4.splat(-1.42647390514189e-2));
  return f32x4.div(f32x4.mul(z, p), q);
}
