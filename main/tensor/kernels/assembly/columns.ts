/** Columns of a matrix: copied, multiplied by those of another, or as a gate of them. */
import { GATE_COLUMNS, MULTIPLY_COLUMNS } from '../ids';
import { expTable, intArg, loadPart, pointerArg, sigmoid4, storePart } from './simd';

/**
 * Tile: a range of lines. Parameters: a, numbers from one of its lines to the next, b and the same, y [N, width], N,
 * width, lines a tile, what y is: a, a ∘ b, or σ(a) ∘ b. y may be b where the lines lie alike.
 */
export function columns(args: usize, tile: i32, scratch: usize): void {
  const width = intArg(args, 6);
  const perTile = intArg(args, 7);
  const how = intArg(args, 8);
  const end = min((tile + 1) * perTile, intArg(args, 5));
  const bytes = <usize>width << 2;
  const table = expTable(scratch);
  for (let n = tile * perTile; n < end; n++) {
    const a = pointerArg(args, 0) + ((<usize>n * <usize>intArg(args, 1)) << 2);
    const b = pointerArg(args, 2) + ((<usize>n * <usize>intArg(args, 3)) << 2);
    const y = pointerArg(args, 4) + <usize>n * bytes;
    if (how == MULTIPLY_COLUMNS) multiplyLine(a, b, width, y);
    else if (how == GATE_COLUMNS) gateLine(a, b, width, y, table);
    else memory.copy(y, a, bytes);
  }
}

function multiplyLine(a: usize, b: usize, width: i32, y: usize): void {
  const whole = <usize>(width & ~3) << 2;
  const left = width & 3;
  let c: usize = 0;
  for (; c < whole; c += 16) v128.store(y + c, f32x4.mul(v128.load(a + c), v128.load(b + c)));
  if (left > 0) storePart(y + c, left, f32x4.mul(loadPart(a + c, left, 0), loadPart(b + c, left, 0)));
}

function gateLine(a: usize, b: usize, width: i32, y: usize, table: usize): void {
  const whole = <usize>(width & ~3) << 2;
  const left = width & 3;
  let c: usize = 0;
  for (; c < whole; c += 16) v128.store(y + c, f32x4.mul(sigmoid4(v128.load(a + c), table), v128.load(b + c)));
  if (left > 0) storePart(y + c, left, f32x4.mul(sigmoid4(loadPart(a + c, left, 0), table), loadPart(b + c, left, 0)));
}
