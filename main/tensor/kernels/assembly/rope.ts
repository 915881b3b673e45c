/**
 * Rotary position embedding in the rotate_half convention of Hugging Face's Llama: a head's first half x1 and second
 * half x2 become [x1 cos − x2 sin, x2 cos + x1 sin].
 *
 * Shapes: x, y [N, heads * d], positions int32 [N], cos, sin [P, r / 2], where r is d, or less where y is x: the other
 * dimensions of a head stay as they are.
 */
import { floatArg, intArg, madd, pointerArg } from './simd';

/** args: x, positions, cos, sin, y, N, heads, r / 2, sign of sin (−1 for the inverse), rowsPerTile, d. */
export function rope(args: usize, tile: i32, scratch: usize): void {
  const positions = pointerArg(args, 1);
  const heads = intArg(args, 6);
  const half = intArg(args, 7);
  const sign = floatArg(args, 8);
  const perTile = intArg(args, 9);
  const end = min((tile + 1) * perTile, intArg(args, 5));
  const halfBytes = <usize>half << 2;
  const headBytes = <usize>intArg(args, 10) << 2;
  for (let row = tile * perTile; row < end; row++) {
    const angle = <usize>load<i32>(positions + (<usize>row << 2)) * halfBytes;
    const cos = pointerArg(args, 2) + angle;
    const sin = pointerArg(args, 3) + angle;
    const offset = <usize>row * <usize>heads * headBytes;
    let x = pointerArg(args, 0) + offset;
    let y = pointerArg(args, 4) + offset;
    for (let head = 0; head < heads; head++) {
      rotate(x, y, cos, sin, half, sign);
      x += headBytes;
      y += headBytes;
    }
  }
}

// @ts-ignore: decorator
@inline
function rotate(x: usize, y: usize, cos: usize, sin: usize, half: i32, sign: f32): void {
  const sign4 = f32x4.splat(sign);
  const halfBytes = <usize>half << 2;
  const vectors = <usize>(half & ~3) << 2;
  let i: usize = 0;
  for (; i < vectors; i += 16) {
    const c = v128.load(cos + i);
    const s = f32x4.mul(v128.load(sin + i), sign4);
    const x1 = v128.load(x + i);
    const x2 = v128.load(x + halfBytes + i);
    v128.store(y + i, f32x4.sub(f32x4.mul(x1, c), f32x4.mul(x2, s)));
    v128.store(y + halfBytes + i, madd(x1, s, f32x4.mul(x2, c)));
  }
  for (; i < halfBytes; i += 4) {
    const c = load<f32>(cos + i);
    const s = load<f32>(sin + i) * sign;
    const x1 = load<f32>(x + i);
    const x2 = load<f32>(x + halfBytes + i);
    store<f32>(y + i, x1 * c - x2 * s);
    store<f32>(y + halfBytes + i, x2 * c + x1 * s);
  }
}
