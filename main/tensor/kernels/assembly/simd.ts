/**
 * Vector helpers that the fused kernels share: parameters, exp, log, horizontal sums, the odd end of a row.
 */

/** Parameter `i` of a job as a pointer. */
// @ts-ignore: decorator
@inline
export function pointerArg(args: usize, i: usize): usize {
  return <usize>load<f64>(args + (i << 3));
}

/** Parameter `i` of a job as an integer. */
// @ts-ignore: decorator
@inline
export function intArg(args: usize, i: usize): i32 {
  return <i32>load<f64>(args + (i << 3));
}

/** Parameter `i` of a job as a float. */
// @ts-ignore: decorator
@inline
export function floatArg(args: usize, i: usize): f32 {
  return <f32>load<f64>(args + (i << 3));
}

/** a * b + c, in one rounding where the CPU can. */
// @ts-ignore: decorator
@inline
export function madd(a: v128, b: v128, c: v128): v128 {
  return f32x4.relaxed_madd(a, b, c);
}

/** Sum of the four lanes, always in the same order. */
// @ts-ignore: decorator
@inline
export function sumLanes(v: v128): f32 {
  return (f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 1)) + (f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3));
}

/** Sum of the four lanes in double precision. */
// @ts-ignore: decorator
@inline
export function sumLanes64(v: v128): f64 {
  return (
    (<f64>f32x4.extract_lane(v, 0) + <f64>f32x4.extract_lane(v, 1)) +
    (<f64>f32x4.extract_lane(v, 2) + <f64>f32x4.extract_lane(v, 3))
  );
}

/** Largest of the four lanes. */
// @ts-ignore: decorator
@inline
export function maxLanes(v: v128): f32 {
  return max(
    max(f32x4.extract_lane(v, 0), f32x4.extract_lane(v, 1)),
    max(f32x4.extract_lane(v, 2), f32x4.extract_lane(v, 3)),
  );
}

/** The horizontal sums of four vectors, as one vector. */
// @ts-ignore: decorator
@inline
export function sumLanesOf4(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = f32x4.add(v128.shuffle<i32>(a, b, 0, 4, 1, 5), v128.shuffle<i32>(a, b, 2, 6, 3, 7));
  const cd = f32x4.add(v128.shuffle<i32>(c, d, 0, 4, 1, 5), v128.shuffle<i32>(c, d, 2, 6, 3, 7));
  return f32x4.add(v128.shuffle<i32>(ab, cd, 0, 1, 4, 5), v128.shuffle<i32>(ab, cd, 2, 3, 6, 7));
}

/**
 * e^x in four lanes, relative error below 2e-7. Below -87.7 it is exactly 0 (so masked scores of -Infinity vanish),
 * above 88.3 Infinity, and NaN stays NaN.
 */
// @ts-ignore: decorator
@inline
export function exp4(x: v128): v128 {
  // pmin and pmax keep a NaN of their first operand. At -88 the power of two below has the bits of 0, at 89 those of
  // Infinity.
  const v = f32x4.pmax(f32x4.pmin(x, f32x4.splat(89.0)), f32x4.splat(-88.0));
  // Adding 1.5 * 2^23 rounds to an integer and leaves that integer in the low bits.
  const shifted = madd(v, f32x4.splat(1.44269504088896341), f32x4.splat(12582912.0));
  const n = f32x4.sub(shifted, f32x4.splat(12582912.0));
  // ln 2 in two parts, the first of so few bits that its product with n is exact.
  let r = madd(n, f32x4.splat(-0.693359375), v);
  r = madd(n, f32x4.splat(2.12194440e-4), r);
  // Minimax polynomial of Cephes' expf.
  let p = madd(f32x4.splat(1.9875691500e-4), r, f32x4.splat(1.3981999507e-3));
  p = madd(p, r, f32x4.splat(8.3334519073e-3));
  p = madd(p, r, f32x4.splat(4.1665795894e-2));
  p = madd(p, r, f32x4.splat(1.6666665459e-1));
  p = madd(p, r, f32x4.splat(5.0000001201e-1));
  p = f32x4.add(madd(p, f32x4.mul(r, r), r), f32x4.splat(1.0));
  const power = i32x4.shl(i32x4.add(shifted, i32x4.splat(127)), 23);
  return f32x4.mul(p, power);
}

/** e^x of one float, the same value as a lane of exp4. */
// @ts-ignore: decorator
@inline
export function exp1(x: f32): f32 {
  return f32x4.extract_lane(exp4(f32x4.splat(x)), 0);
}

/** 1 / (1 + e^-x) in four lanes. */
// @ts-ignore: decorator
@inline
export function sigmoid4(x: v128): v128 {
  const one = f32x4.splat(1.0);
  return f32x4.div(one, f32x4.add(one, exp4(f32x4.neg(x))));
}

/** Natural logarithm of a positive, normal number; the library's own needs tables, and we own no data segment. */
export function log64(x: f64): f64 {
  const bits = reinterpret<i64>(x);
  let exponent = <i32>((bits >> 52) & 0x7ff) - 1023;
  let mantissa = reinterpret<f64>((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
  if (mantissa > 1.4142135623730951) {
    mantissa *= 0.5;
    exponent += 1;
  }
  // ln m = 2 atanh((m - 1) / (m + 1)), |argument| < 0.172.
  const s = (mantissa - 1.0) / (mantissa + 1.0);
  const q = s * s;
  let sum: f64 = 1.0 / 21.0;
  for (let odd: f64 = 19.0; odd >= 1.0; odd -= 2.0) sum = sum * q + 1.0 / odd;
  return 2.0 * s * sum + <f64>exponent * 0.6931471805599453;
}

/** The first `count` (1 to 3) floats at `pointer`, the other lanes filled with `fill`. */
// @ts-ignore: decorator
@inline
export function loadPart(pointer: usize, count: i32, fill: f32): v128 {
  let v = f32x4.replace_lane(f32x4.splat(fill), 0, load<f32>(pointer));
  if (count > 1) v = f32x4.replace_lane(v, 1, load<f32>(pointer, 4));
  if (count > 2) v = f32x4.replace_lane(v, 2, load<f32>(pointer, 8));
  return v;
}

/** Stores the first `count` (1 to 3) lanes at `pointer`. */
// @ts-ignore: decorator
@inline
export function storePart(pointer: usize, count: i32, v: v128): void {
  store<f32>(pointer, f32x4.extract_lane(v, 0));
  if (count > 1) store<f32>(pointer, f32x4.extract_lane(v, 1), 4);
  if (count > 2) store<f32>(pointer, f32x4.extract_lane(v, 2), 8);
}

/** Sets `bytes` (a multiple of 4) at `pointer` to zero. */
// @ts-ignore: decorator
@inline
export function zero(pointer: usize, bytes: usize): void {
  memory.fill(pointer, 0, bytes);
}
