/** One token of Mamba-2's state space: S ← e^(δa) S + B (δ x)ᵀ, o = Cᵀ S + D x (see ops/state-space.ts). */
import { exp1, expTable, intArg, log64, madd, pointerArg } from './simd';

/**
 * Tile: a row and a head. Parameters: mixed [B, H·V + 2·G·K] of x, B and C, dt [B, H], timeBias, decay and skip [H], states
 * [B, G·K·(H/G)·V], which change, groups, heads, K, V, out [B, H·V]. V is a multiple of 4.
 */
export function stateSpaceStep(args: usize, tile: i32, scratch: usize): void {
  const groups = intArg(args, 6);
  const heads = intArg(args, 7);
  const stateDim = intArg(args, 8);
  const headDim = intArg(args, 9);
  const row = tile / heads;
  const head = tile % heads;
  const share = heads / groups;
  const group = head / share;
  const table = expTable(scratch);
  const weight = <usize>head << 2;
  const dt = load<f32>(pointerArg(args, 1) + (<usize>tile << 2)) + load<f32>(pointerArg(args, 2) + weight);
  const step = max<f32>(dt, 0) + <f32>log64(1.0 + <f64>exp1(-abs(dt), table));
  const decay = f32x4.splat(exp1(-exp1(load<f32>(pointerArg(args, 3) + weight), table) * step, table));
  const skip = f32x4.splat(load<f32>(pointerArg(args, 4) + weight));
  const step4 = f32x4.splat(step);
  const mixed = pointerArg(args, 0) + (<usize>(row * (heads * headDim + 2 * groups * stateDim)) << 2);
  const values = mixed + (<usize>(head * headDim) << 2);
  const keys = mixed + (<usize>(heads * headDim + group * stateDim) << 2);
  const queries = keys + (<usize>(groups * stateDim) << 2);
  const stride = <usize>(share * headDim) << 2;
  const first = <usize>((row * groups + group) * stateDim) * stride;
  const state = pointerArg(args, 5) + first + (<usize>((head % share) * headDim) << 2);
  const out = pointerArg(args, 10) + (<usize>(tile * headDim) << 2);
  const bytes = <usize>headDim << 2;
  let c: usize = 0;
  for (; c + 32 <= bytes; c += 32) {
    const x0 = v128.load(values + c);
    const x1 = v128.load(values + c, 16);
    const u0 = f32x4.mul(x0, step4);
    const u1 = f32x4.mul(x1, step4);
    let s0 = f32x4.mul(x0, skip);
    let s1 = f32x4.mul(x1, skip);
    let at = state + c;
    for (let i: usize = 0; i < <usize>stateDim << 2; i += 4) {
      const key = v128.load32_splat(keys + i);
      const query = v128.load32_splat(queries + i);
      const t0 = madd(key, u0, f32x4.mul(decay, v128.load(at)));
      const t1 = madd(key, u1, f32x4.mul(decay, v128.load(at, 16)));
      v128.store(at, t0);
      v128.store(at, t1, 16);
      s0 = madd(query, t0, s0);
      s1 = madd(query, t1, s1);
      at += stride;
    }
    v128.store(out + c, s0);
    v128.store(out + c, s1, 16);
  }
  for (; c < bytes; c += 16) {
    const x = v128.load(values + c);
    const u = f32x4.mul(x, step4);
    let sum = f32x4.mul(x, skip);
    let at = state + c;
    for (let i: usize = 0; i < <usize>stateDim << 2; i += 4) {
      const next = madd(v128.load32_splat(keys + i), u, f32x4.mul(decay, v128.load(at)));
      v128.store(at, next);
      sum = madd(v128.load32_splat(queries + i), next, sum);
      at += stride;
    }
    v128.store(out + c, sum);
  }
}
