/**
 * Vector helpers that the fused kernels share: parameters, exp, log, horizontal sums, the remainder of a row.
 */
import { SCRATCH_BYTES } from '../ids';

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
 * Writes the constants of exp4 at the end of a thread's scratch and returns their address. V8 rebuilds a constant vector
 * in three instructions wherever a loop needs it; loading it takes one. Its revectorizer pairs splatted loads, not plain
 * ones of the same address.
 */
export function expTable(scratch: usize): usize {
  const table = scratch + SCRATCH_BYTES - 256;
  store<f32>(table, 89.0);
  store<f32>(table, -88.0, 4);
  store<f32>(table, 1.44269504088896341, 8);
  // 1.5 * 2^23 + 127: adding it rounds to an integer and leaves that integer's biased exponent in the low bits.
  store<f32>(table, 12583039.0, 12);
  // ln 2 in two parts, the first of so few bits that its product with a small integer is exact.
  store<f32>(table, -0.693359375, 16);
  store<f32>(table, 2.12194440e-4, 20);
  // Minimax polynomial of degree 6 for e^r, |r| <= ln 2 / 2, with 1 + r fixed; relative error 3.1e-9.
  store<f32>(table, 0.0013814320574830953, 24);
  store<f32>(table, 0.008368851071601296, 28);
  store<f32>(table, 0.04166840108452125, 32);
  store<f32>(table, 0.16666519524036374, 36);
  store<f32>(table, 0.49999993373077123, 40);
  store<f32>(table, 1.0, 44);
  return table;
}

/** Memory for storePair behind the constants of expTable. */
// @ts-ignore: decorator
@inline
export function pairsAfter(table: usize): usize {
  return table + 64;
}

/** Stores two vectors next to each other: V8's revectorizer starts from such stores, so sums in a loop need one after it. */
// @ts-ignore: decorator
@inline
export function storePair(to: usize, a: v128, b: v128): void {
  v128.store(to, a);
  v128.store(to, b, 16);
}

/**
 * e^x in four lanes, relative error below 2e-7. Below -87.7 it is exactly 0 (so masked scores of -Infinity vanish),
 * above 88.3 Infinity, and NaN stays NaN. `table` comes from expTable.
 */
// @ts-ignore: decorator
@inline
export function exp4(x: v128, table: usize): v128 {
  // pmin and pmax keep a NaN of their first operand. At 89 the power of two in expBelow has the bits of Infinity.
  return expBelow(f32x4.pmin(x, v128.load32_splat(table)), table);
}

/** exp4 for x up to 88; the result is undefined above. */
// @ts-ignore: decorator
@inline
export function expBelow(x: v128, table: usize): v128 {
  // At -88 the power of two below has the bits of 0.
  const v = f32x4.pmax(x, v128.load32_splat(table, 4));
  const round = v128.load32_splat(table, 12);
  const shifted = madd(v, v128.load32_splat(table, 8), round);
  const n = f32x4.sub(shifted, round);
  const r = madd(n, v128.load32_splat(table, 20), madd(n, v128.load32_splat(table, 16), v));
  const one = v128.load32_splat(table, 44);
  let p = madd(v128.load32_splat(table, 24), r, v128.load32_splat(table, 28));
  p = madd(p, r, v128.load32_splat(table, 32));
  p = madd(p, r, v128.load32_splat(table, 36));
  p = madd(p, r, v128.load32_splat(table, 40));
  p = madd(madd(p, r, one), r, one);
  return f32x4.mul(p, i32x4.shl(shifted, 23));
}

/** e^x of one float, the same value as a lane of exp4. */
// @ts-ignore: decorator
@inline
export function exp1(x: f32, table: usize): f32 {
  return f32x4.extract_lane(exp4(f32x4.splat(x), table), 0);
}

/** 1 / (1 + e^-x) in four lanes. */
// @ts-ignore: decorator
@inline
export function sigmoid4(x: v128, table: usize): v128 {
  const one = v128.load32_splat(table, 44);
  return f32x4.div(one, f32x4.add(one, exp4(f32x4.neg(x), table)));
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
  sum = sum * q + 1.0 / 19.0;
  sum = sum * q + 1.0 / 17.0;
  sum = sum * q + 1.0 / 15.0;
  sum = sum * q + 1.0 / 13.0;
  sum = sum * q + 1.0 / 11.0;
  sum = sum * q + 1.0 / 9.0;
  sum = sum * q + 1.0 / 7.0;
  sum = sum * q + 1.0 / 5.0;
  sum = sum * q + 1.0 / 3.0;
  sum = sum * q + 1.0;
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

/** Stores four sums of products into C, scaled, adding to C where it accumulates. */
// @ts-ignore: decorator
@inline
export function putFour(to: usize, sums: v128, alpha: f32, add: bool): void {
  const scaled = f32x4.mul(f32x4.splat(alpha), sums);
  v128.store(to, add ? f32x4.add(v128.load(to), scaled) : scaled);
}

/** The same of one sum. */
// @ts-ignore: decorator
@inline
export function putOne(to: usize, sum: f32, alpha: f32, add: bool): void {
  const scaled = alpha * sum;
  store<f32>(to, add ? load<f32>(to) + scaled : scaled);
}

/** log(1 + e^x), without an overflow. */
export function softplus1(x: f32, table: usize): f32 {
  return max<f32>(x, 0) + <f32>log64(1.0 + <f64>exp1(-abs(x), table));
}
