/**
 * SwiGLU, elementwise: y = silu(gate) * up, silu(g) = g * sigmoid(g), and its gradient.
 */
import { expTable, intArg, loadPart, pointerArg, sigmoid4, storePart } from './simd';

/** args: gate, up, y, elements, elementsPerTile (a multiple of 4). */
export function swiGlu(args: usize, tile: i32, scratch: usize): void {
  const perTile = intArg(args, 4);
  const count = min(perTile, intArg(args, 3) - tile * perTile);
  const offset = (<usize>tile * <usize>perTile) << 2;
  const gate = pointerArg(args, 0) + offset;
  const up = pointerArg(args, 1) + offset;
  const y = pointerArg(args, 2) + offset;
  const bytes = <usize>(count & ~3) << 2;
  const table = expTable(scratch);
  let i: usize = 0;
  for (; i + 32 <= bytes; i += 32) {
    const a = gated(v128.load(gate + i), v128.load(up + i), table);
    const b = gated(v128.load(gate + i, 16), v128.load(up + i, 16), table);
    v128.store(y + i, a);
    v128.store(y + i, b, 16);
  }
  if (i < bytes) v128.store(y + i, gated(v128.load(gate + i), v128.load(up + i), table));
  const left = count & 3;
  if (left == 0) return;
  storePart(y + bytes, left, gated(loadPart(gate + bytes, left, 0), loadPart(up + bytes, left, 0), table));
}

// @ts-ignore: decorator
@inline
function gated(gate: v128, up: v128, table: usize): v128 {
  return f32x4.mul(f32x4.mul(gate, sigmoid4(gate, table)), up);
}

/** args: dy, gate, up, dgate, dup, elements, elementsPerTile (a multiple of 4). */
export function swiGluGrad(args: usize, tile: i32, scratch: usize): void {
  const perTile = intArg(args, 6);
  const count = min(perTile, intArg(args, 5) - tile * perTile);
  const offset = (<usize>tile * <usize>perTile) << 2;
  const dy = pointerArg(args, 0) + offset;
  const gate = pointerArg(args, 1) + offset;
  const up = pointerArg(args, 2) + offset;
  const dgate = pointerArg(args, 3) + offset;
  const dup = pointerArg(args, 4) + offset;
  const bytes = <usize>(count & ~3) << 2;
  const table = expTable(scratch);
  let i: usize = 0;
  for (; i + 32 <= bytes; i += 32) {
    const dyA = v128.load(dy + i);
    const dyB = v128.load(dy + i, 16);
    const gateA = v128.load(gate + i);
    const gateB = v128.load(gate + i, 16);
    const sigmoidA = sigmoid4(gateA, table);
    const sigmoidB = sigmoid4(gateB, table);
    const dGateA = gateGrad(dyA, gateA, v128.load(up + i), sigmoidA, table);
    const dGateB = gateGrad(dyB, gateB, v128.load(up + i, 16), sigmoidB, table);
    v128.store(dgate + i, dGateA);
    v128.store(dgate + i, dGateB, 16);
    v128.store(dup + i, f32x4.mul(dyA, f32x4.mul(gateA, sigmoidA)));
    v128.store(dup + i, f32x4.mul(dyB, f32x4.mul(gateB, sigmoidB)), 16);
  }
  if (i < bytes) {
    const dy4 = v128.load(dy + i);
    const gate4 = v128.load(gate + i);
    const sigmoid = sigmoid4(gate4, table);
    v128.store(dgate + i, gateGrad(dy4, gate4, v128.load(up + i), sigmoid, table));
    v128.store(dup + i, f32x4.mul(dy4, f32x4.mul(gate4, sigmoid)));
  }
  const left = count & 3;
  if (left == 0) return;
  const dy4 = loadPart(dy + bytes, left, 0);
  const gate4 = loadPart(gate + bytes, left, 0);
  const sigmoid = sigmoid4(gate4, table);
  storePart(dgate + bytes, left, gateGrad(dy4, gate4, loadPart(up + bytes, left, 0), sigmoid, table));
  storePart(dup + bytes, left, f32x4.mul(dy4, f32x4.mul(gate4, sigmoid)));
}

/** dy * up * sigmoid * (1 + gate * (1 − sigmoid)). */
// @ts-ignore: decorator
@inline
function gateGrad(dy: v128, gate: v128, up: v128, sigmoid: v128, table: usize): v128 {
  const one = v128.load32_splat(table, 44);
  const bracket = f32x4.add(one, f32x4.mul(gate, f32x4.sub(one, sigmoid)));
  return f32x4.mul(f32x4.mul(dy, up), f32x4.mul(sigmoid, bracket));
}
