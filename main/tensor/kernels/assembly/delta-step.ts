/** One token of the gated delta rule: S ← e^g S, u = β (v − kᵀS), S ← S + k u, o = qᵀS (see delta-chunk.ts). */
import { exp1, expTable, intArg, madd, pointerArg, softplus1, sumLanes } from './simd';

/**
 * Tile: a row and a value head. Parameters: mixed [B, 2·keyHeads·K + valueHeads·V], a and b [B, valueHeads], timeBias and
 * decay [valueHeads], states [B, valueHeads·K·V], which change, a spare one, key heads, value heads, K, V, out
 * [B, valueHeads·V]. K and V are multiples of 4.
 */
export function deltaStep(args: usize, tile: i32, scratch: usize): void {
  const keyHeads = intArg(args, 7);
  const valueHeads = intArg(args, 8);
  const keyDim = intArg(args, 9);
  const valueDim = intArg(args, 10);
  const row = tile / valueHeads;
  const head = tile % valueHeads;
  const mixed = pointerArg(args, 0) + (<usize>(row * (2 * keyHeads * keyDim + valueHeads * valueDim)) << 2);
  const keyBytes = <usize>keyDim << 2;
  const queries = mixed + <usize>(head / (valueHeads / keyHeads)) * keyBytes;
  const q = scratch;
  const k = scratch + keyBytes;
  unitRow(queries, keyDim, <f32>(1.0 / sqrt(<f64>keyDim)), q);
  unitRow(queries + <usize>keyHeads * keyBytes, keyDim, 1, k);
  const table = expTable(scratch);
  const cell = <usize>tile << 2;
  const weight = <usize>head << 2;
  const x = load<f32>(pointerArg(args, 1) + cell) + load<f32>(pointerArg(args, 3) + weight);
  const decay = exp1(-exp1(load<f32>(pointerArg(args, 4) + weight), table) * softplus1(x, table), table);
  const strength = <f32>1.0 / (<f32>1.0 + exp1(-load<f32>(pointerArg(args, 2) + cell), table));
  const values = mixed + <usize>(2 * keyHeads) * keyBytes + (<usize>(head * valueDim) << 2);
  const state = pointerArg(args, 5) + ((<usize>tile * <usize>(keyDim * valueDim)) << 2);
  const out = pointerArg(args, 11) + (<usize>(tile * valueDim) << 2);
  const stride = <usize>valueDim << 2;
  let c: usize = 0;
  for (; c + 64 <= stride; c += 64) sixteen(q, k, keyDim, decay, strength, values + c, state + c, stride, out + c);
  for (; c < stride; c += 16) four(q, k, keyDim, decay, strength, values + c, state + c, stride, out + c);
}

/** A row of length `scale`. */
function unitRow(from: usize, width: i32, scale: f32, to: usize): void {
  const bytes = <usize>width << 2;
  let squares = f32x4.splat(0);
  for (let c: usize = 0; c < bytes; c += 16) squares = madd(v128.load(from + c), v128.load(from + c), squares);
  const factor = f32x4.splat(scale / sqrt<f32>(sumLanes(squares) + <f32>1e-6));
  for (let c: usize = 0; c < bytes; c += 16) v128.store(to + c, f32x4.mul(v128.load(from + c), factor));
}

/** Sixteen columns of a state. */
function sixteen(
  q: usize, k: usize, keyDim: i32, decay: f32, strength: f32, values: usize, state: usize, stride: usize, out: usize,
): void {
  const decay4 = f32x4.splat(decay);
  const end = <usize>keyDim << 2;
  let s0 = f32x4.splat(0);
  let s1 = f32x4.splat(0);
  let s2 = f32x4.splat(0);
  let s3 = f32x4.splat(0);
  let at = state;
  for (let i: usize = 0; i < end; i += 4) {
    const key = v128.load32_splat(k + i);
    s0 = madd(key, v128.load(at), s0);
    s1 = madd(key, v128.load(at, 16), s1);
    s2 = madd(key, v128.load(at, 32), s2);
    s3 = madd(key, v128.load(at, 48), s3);
    at += stride;
  }
  const u0 = correction(v128.load(values), s0, decay4, strength);
  const u1 = correction(v128.load(values, 16), s1, decay4, strength);
  const u2 = correction(v128.load(values, 32), s2, decay4, strength);
  const u3 = correction(v128.load(values, 48), s3, decay4, strength);
  s0 = f32x4.splat(0);
  s1 = s0;
  s2 = s0;
  s3 = s0;
  at = state;
  for (let i: usize = 0; i < end; i += 4) {
    const key = v128.load32_splat(k + i);
    const query = v128.load32_splat(q + i);
    const t0 = madd(key, u0, f32x4.mul(decay4, v128.load(at)));
    const t1 = madd(key, u1, f32x4.mul(decay4, v128.load(at, 16)));
    const t2 = madd(key, u2, f32x4.mul(decay4, v128.load(at, 32)));
    const t3 = madd(key, u3, f32x4.mul(decay4, v128.load(at, 48)));
    v128.store(at, t0);
    v128.store(at, t1, 16);
    v128.store(at, t2, 32);
    v128.store(at, t3, 48);
    s0 = madd(query, t0, s0);
    s1 = madd(query, t1, s1);
    s2 = madd(query, t2, s2);
    s3 = madd(query, t3, s3);
    at += stride;
  }
  v128.store(out, s0);
  v128.store(out, s1, 16);
  v128.store(out, s2, 32);
  v128.store(out, s3, 48);
}

/** Four columns. */
function four(
  q: usize, k: usize, keyDim: i32, decay: f32, strength: f32, values: usize, state: usize, stride: usize, out: usize,
): void {
  const decay4 = f32x4.splat(decay);
  let sum = f32x4.splat(0);
  for (let i: usize = 0; i < <usize>keyDim; i++) {
    sum = madd(v128.load32_splat(k + (i << 2)), v128.load(state + i * stride), sum);
  }
  const u = correction(v128.load(values), sum, decay4, strength);
  sum = f32x4.splat(0);
  for (let i: usize = 0; i < <usize>keyDim; i++) {
    const next = madd(v128.load32_splat(k + (i << 2)), u, f32x4.mul(decay4, v128.load(state + i * stride)));
    v128.store(state + i * stride, next);
    sum = madd(v128.load32_splat(q + (i << 2)), next, sum);
  }
  v128.store(out, sum);
}

/** u of four columns. */
// @ts-ignore: decorator
@inline
function correction(value: v128, said: v128, decay: v128, strength: f32): v128 {
  return f32x4.mul(f32x4.splat(strength), f32x4.sub(value, f32x4.mul(decay, said)));
}
