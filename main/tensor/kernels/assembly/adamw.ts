/** Kernels over flat tensors: the AdamW step, addition, sum of squares. */
import { FLAT_TILE } from '../ids';
import { floatArg, intArg, pointerArg } from './simd';

/**
 * One step of torch.optim.AdamW in place. Parameters: param, m, v, grad, length; decay = 1 - lr·wd, 1 - beta1, beta2,
 * 1 - beta2, step = lr/(1 - beta1^t), correction = sqrt(1 - beta2^t), eps, gradScale.
 */
export function adamw(args: usize, tile: i32, scratch: usize): void {
  const start = <usize>tile * FLAT_TILE * 4;
  let param = pointerArg(args, 0) + start;
  let m = pointerArg(args, 1) + start;
  let v = pointerArg(args, 2) + start;
  let grad = pointerArg(args, 3) + start;
  const count = min(FLAT_TILE, intArg(args, 4) - tile * FLAT_TILE);
  const decay = f32x4.splat(floatArg(args, 5));
  const rate1 = f32x4.splat(floatArg(args, 6));
  const beta2 = f32x4.splat(floatArg(args, 7));
  const rate2 = f32x4.splat(floatArg(args, 8));
  const step = f32x4.splat(floatArg(args, 9));
  const correction = f32x4.splat(floatArg(args, 10));
  const eps = f32x4.splat(floatArg(args, 11));
  const gradScale = f32x4.splat(floatArg(args, 12));

  const end = param + (<usize>count << 2);
  while (param < end) {
    const left = <i32>((end - param) >> 2);
    const g = f32x4.mul(loadUpTo4(grad, left), gradScale);
    const oldM = loadUpTo4(m, left);
    const newM = f32x4.add(oldM, f32x4.mul(rate1, f32x4.sub(g, oldM)));
    const newV = f32x4.add(f32x4.mul(loadUpTo4(v, left), beta2), f32x4.mul(rate2, f32x4.mul(g, g)));
    const denominator = f32x4.add(f32x4.div(f32x4.sqrt(newV), correction), eps);
    const decayed = f32x4.mul(loadUpTo4(param, left), decay);
    storeUpTo4(m, newM, left);
    storeUpTo4(v, newV, left);
    storeUpTo4(param, f32x4.sub(decayed, f32x4.mul(step, f32x4.div(newM, denominator))), left);
    param += 16;
    m += 16;
    v += 16;
    grad += 16;
  }
}

/** out = a + b. Parameters: a, b, out, length. */
export function add(args: usize, tile: i32, scratch: usize): void {
  const start = <usize>tile * FLAT_TILE * 4;
  let a = pointerArg(args, 0) + start;
  let b = pointerArg(args, 1) + start;
  let out = pointerArg(args, 2) + start;
  const count = min(FLAT_TILE, intArg(args, 3) - tile * FLAT_TILE);
  const end = out + (<usize>count << 2);
  const endOfEights = out + (<usize>(count & ~7) << 2);
  while (out < endOfEights) {
    v128.store(out, f32x4.add(v128.load(a), v128.load(b)));
    v128.store(out, f32x4.add(v128.load(a, 16), v128.load(b, 16)), 16);
    a += 32;
    b += 32;
    out += 32;
  }
  while (out < end) {
    const left = <i32>((end - out) >> 2);
    storeUpTo4(out, f32x4.add(loadUpTo4(a, left), loadUpTo4(b, left)), left);
    a += 16;
    b += 16;
    out += 16;
  }
}

/** target += scale·x. Parameters: target, x, length, scale. */
export function addInPlace(args: usize, tile: i32, scratch: usize): void {
  const start = <usize>tile * FLAT_TILE * 4;
  let target = pointerArg(args, 0) + start;
  let x = pointerArg(args, 1) + start;
  const end = target + (<usize>min(FLAT_TILE, intArg(args, 2) - tile * FLAT_TILE) << 2);
  const scale = f32x4.splat(floatArg(args, 3));
  while (target < end) {
    const left = <i32>((end - target) >> 2);
    const sum = f32x4.add(loadUpTo4(target, left), f32x4.mul(scale, loadUpTo4(x, left)));
    storeUpTo4(target, sum, left);
    target += 16;
    x += 16;
  }
}

/** The sum of a tile's squares in double precision, into partials[tile]. Parameters: x, length, partials (f64). */
export function sumSquares(args: usize, tile: i32, scratch: usize): void {
  let x = pointerArg(args, 0) + <usize>tile * FLAT_TILE * 4;
  const end = x + (<usize>min(FLAT_TILE, intArg(args, 1) - tile * FLAT_TILE) << 2);
  let low = f64x2.splat(0);
  let high = f64x2.splat(0);
  while (x < end) {
    const value = loadUpTo4(x, <i32>((end - x) >> 2));
    const first = f64x2.promote_low_f32x4(value);
    const second = f64x2.promote_low_f32x4(v128.shuffle<f32>(value, value, 2, 3, 2, 3));
    low = f64x2.add(low, f64x2.mul(first, first));
    high = f64x2.add(high, f64x2.mul(second, second));
    x += 16;
  }
  const sum = f64x2.add(low, high);
  store<f64>(pointerArg(args, 2) + (<usize>tile << 3), f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1));
}

/** Four floats, or the remaining `left` ones padded with zeros. */
// @ts-ignore: decorator
@inline
function loadUpTo4(from: usize, left: i32): v128 {
  return left >= 4 ? v128.load(from) : loadRest(from, left);
}

function loadRest(from: usize, left: i32): v128 {
  let value = f32x4.replace_lane(f32x4.splat(0), 0, load<f32>(from));
  if (left > 1) value = f32x4.replace_lane(value, 1, load<f32>(from, 4));
  if (left > 2) value = f32x4.replace_lane(value, 2, load<f32>(from, 8));
  return value;
}

// @ts-ignore: decorator
@inline
function storeUpTo4(to: usize, value: v128, left: i32): void {
  if (left >= 4) v128.store(to, value);
  else storeRest(to, value, left);
}

function storeRest(to: usize, value: v128, left: i32): void {
  store<f32>(to, f32x4.extract_lane(value, 0));
  if (left > 1) store<f32>(to, f32x4.extract_lane(value, 1), 4);
  if (left > 2) store<f32>(to, f32x4.extract_lane(value, 2), 8);
}
