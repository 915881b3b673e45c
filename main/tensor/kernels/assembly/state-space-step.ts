/** One token of Mamba-2's state space: S ← e^(δa) S + B (δ x)ᵀ, o = Cᵀ S + D x (see ops/state-space.ts). */
import { exp1, expTable, intArg, madd, pointerArg, softplus1 } from './simd';

/** Bytes of scratch for each of a tile's lines: heads of up to 4096 floats. */
const LINE: usize = 16384;

/**
 * Tile: a row and `block` heads of a group, whose columns of a state lie beside each other. Parameters: mixed
 * [B, H·V + 2·G·K] of x, B and C, dt [B, H], timeBias, decay and skip [H], states [B, G·K·(H/G)·V], which change, groups,
 * heads, K, V, out [B, H·V], block, which divides H/G. V is a multiple of 4, block·V at most 4096.
 */
export function stateSpaceStep(args: usize, tile: i32, scratch: usize): void {
  const groups = intArg(args, 6);
  const heads = intArg(args, 7);
  const stateDim = intArg(args, 8);
  const headDim = intArg(args, 9);
  const block = intArg(args, 11);
  const row = tile / (heads / block);
  const head = (tile % (heads / block)) * block;
  const share = heads / groups;
  const group = head / share;
  const mixed = pointerArg(args, 0) + (<usize>(row * (heads * headDim + 2 * groups * stateDim)) << 2);
  const values = mixed + (<usize>(head * headDim) << 2);
  const out = pointerArg(args, 10) + (<usize>((row * heads + head) * headDim) << 2);
  const decays = scratch;
  const written = scratch + LINE;
  const bytes = <usize>headDim << 2;
  for (let i = 0; i < block; i++) {
    const at = <usize>i * bytes;
    startHead(args, row * heads + head + i, head + i, values + at, bytes, decays + at, written + at, out + at, scratch);
  }
  const keys = mixed + (<usize>(heads * headDim + group * stateDim) << 2);
  const queries = keys + (<usize>(groups * stateDim) << 2);
  const stride = <usize>(share * headDim) << 2;
  const first = <usize>((row * groups + group) * stateDim) * stride;
  let state = pointerArg(args, 5) + first + (<usize>((head % share) * headDim) << 2);
  for (let i: usize = 0; i < <usize>stateDim << 2; i += 4) {
    const key = v128.load32_splat(keys + i);
    const query = v128.load32_splat(queries + i);
    for (let c: usize = 0; c < <usize>block * bytes; c += 16) {
      const next = madd(key, v128.load(written + c), f32x4.mul(v128.load(decays + c), v128.load(state + c)));
      v128.store(state + c, next);
      v128.store(out + c, madd(query, next, v128.load(out + c)));
    }
    state += stride;
  }
}

/** A head's decay and δ x for each of its columns, and D x. */
function startHead(
  args: usize, cell: i32, head: i32, values: usize, bytes: usize, decays: usize, written: usize, out: usize, scratch: usize,
): void {
  const table = expTable(scratch);
  const weight = <usize>head << 2;
  const dt = load<f32>(pointerArg(args, 1) + (<usize>cell << 2)) + load<f32>(pointerArg(args, 2) + weight);
  const step = softplus1(dt, table);
  const decay = f32x4.splat(exp1(-exp1(load<f32>(pointerArg(args, 3) + weight), table) * step, table));
  const skip = v128.load32_splat(pointerArg(args, 4) + weight);
  for (let c: usize = 0; c < bytes; c += 16) {
    const x = v128.load(values + c);
    v128.store(decays + c, decay);
    v128.store(written + c, f32x4.mul(x, f32x4.splat(step)));
    v128.store(out + c, f32x4.mul(x, skip));
  }
}
