/**
 * A causal convolution of each channel by itself, y = f(bias + Σ_j weight_j x_j) over a token and the taps − 1 before it,
 * where f is SiLU or nothing.
 *
 * N tokens, D channels, T taps, S sequences. x [N, D], weight [D, T], the last tap for the token itself.
 */
import { expTable, intArg, madd, pointerArg, sigmoid4 } from './simd';

/** Channels of a tile. */
const CHANNELS: i32 = 64;
const CHANNEL_BYTES: usize = 256;
const MOST_TAPS: usize = 16;

// Parameters of the convolution and its gradient: x, weight, bias [D], rows int32 [N, T - 1] (the token's line of x per earlier tap; from N on
// of `before`; -1: zeros), before [S·(T - 1), D] or 0, N, D, T, whether SiLU follows, tokens a tile.

/** Tile: channels of a range of tokens. And y [N, D]. */
export function convolution(args: usize, tile: i32, scratch: usize): void {
  const width = intArg(args, 6);
  const across = (width + CHANNELS - 1) / CHANNELS;
  const first = (tile % across) * CHANNELS;
  const count = min(CHANNELS, width - first);
  const perTile = intArg(args, 9);
  const start = (tile / across) * perTile;
  const end = min(start + perTile, intArg(args, 5));
  const y = pointerArg(args, 10) + (<usize>first << 2);
  packWeights(args, first, count, scratch);
  const hasSilu = intArg(args, 8) != 0;
  for (let n = start; n < end; n++) {
    sumTaps(args, n, first, count, scratch);
    if (hasSilu) silu(sumsIn(scratch), count, expTable(scratch));
    memory.copy(y + ((<usize>n * <usize>width) << 2), sumsIn(scratch), <usize>count << 2);
  }
}

/**
 * One token a row. Tile: channels of all rows. Parameters: x [B, D], weight, bias [D], states [B, (T - 1)·D] of the tokens
 * before, oldest first, which move on, a spare one, B, D, T, whether SiLU follows, y [B, D].
 */
export function convolutionStep(args: usize, tile: i32, scratch: usize): void {
  const rows = intArg(args, 5);
  const width = intArg(args, 6);
  const taps = intArg(args, 7);
  const first = tile * CHANNELS;
  const count = min(CHANNELS, width - first);
  const bytes = <usize>count << 2;
  const offset = <usize>first << 2;
  const rowBytes = <usize>width << 2;
  const lines = linesIn(scratch);
  packWeights(args, first, count, scratch);
  for (let row: usize = 0; row < <usize>rows; row++) {
    const x = pointerArg(args, 0) + row * rowBytes + offset;
    let line = pointerArg(args, 3) + row * <usize>(taps - 1) * rowBytes + offset;
    for (let j = 0; j < taps - 1; j++) store<usize>(lines + (<usize>j << 2), line + <usize>j * rowBytes);
    store<usize>(lines + (<usize>(taps - 1) << 2), x);
    sumLines(taps, count, scratch);
    if (intArg(args, 8) != 0) silu(sumsIn(scratch), count, expTable(scratch));
    memory.copy(pointerArg(args, 9) + row * rowBytes + offset, sumsIn(scratch), bytes);
    for (let j = 1; j < taps; j++) {
      memory.copy(line, load<usize>(lines + (<usize>j << 2)), bytes);
      line += rowBytes;
    }
  }
}

/** Taps [T, 64] and bias of a tile's channels. */
function packWeights(args: usize, first: i32, count: i32, scratch: usize): void {
  const taps = intArg(args, 7);
  memory.fill(zerosIn(scratch), 0, CHANNEL_BYTES);
  memory.copy(biasIn(scratch), pointerArg(args, 2) + (<usize>first << 2), <usize>count << 2);
  memory.fill(scratch, 0, <usize>taps * CHANNEL_BYTES);
  for (let c = 0; c < count; c++) {
    const from = pointerArg(args, 1) + (<usize>((first + c) * taps) << 2);
    for (let j = 0; j < taps; j++) store<f32>(scratch + <usize>j * CHANNEL_BYTES + (<usize>c << 2), load<f32>(from + (<usize>j << 2)));
  }
}

// After the taps lines of a tile's channels: the bias, zeros, sums, their gradient, those of bias and taps; then the
// addresses of a token's taps.
// @ts-ignore: decorator
@inline
function biasIn(scratch: usize): usize {
  return scratch + MOST_TAPS * CHANNEL_BYTES;
}

// @ts-ignore: decorator
@inline
function zerosIn(scratch: usize): usize {
  return biasIn(scratch) + CHANNEL_BYTES;
}

// @ts-ignore: decorator
@inline
function sumsIn(scratch: usize): usize {
  return zerosIn(scratch) + CHANNEL_BYTES;
}

// @ts-ignore: decorator
@inline
function linesIn(scratch: usize): usize {
  return sumsIn(scratch) + (MOST_TAPS + 4) * CHANNEL_BYTES;
}

/** The line of x that a token's tap reads; 0: zeros. */
// @ts-ignore: decorator
@inline
function tapOf(args: usize, n: i32, tap: i32, first: i32): usize {
  const taps = intArg(args, 7);
  const offset = <usize>first << 2;
  const rowBytes = <usize>intArg(args, 6) << 2;
  if (tap == taps - 1) return pointerArg(args, 0) + <usize>n * rowBytes + offset;
  const row = load<i32>(pointerArg(args, 3) + (<usize>(n * (taps - 1) + tap) << 2));
  if (row < 0) return 0;
  const tokens = intArg(args, 5);
  return row < tokens ? pointerArg(args, 0) + <usize>row * rowBytes + offset : pointerArg(args, 4) + <usize>(row - tokens) * rowBytes + offset;
}

/** A token's sums before SiLU. */
function sumTaps(args: usize, n: i32, first: i32, count: i32, scratch: usize): void {
  const taps = intArg(args, 7);
  const lines = linesIn(scratch);
  for (let j = 0; j < taps; j++) {
    const x = tapOf(args, n, j, first);
    store<usize>(lines + (<usize>j << 2), x == 0 ? zerosIn(scratch) : x);
  }
  sumLines(taps, count, scratch);
}

/** The same of the lines whose addresses lie in scratch. */
function sumLines(taps: i32, count: i32, scratch: usize): void {
  const lines = linesIn(scratch);
  const bias = biasIn(scratch);
  const sums = sumsIn(scratch);
  const bytes = <usize>(count & ~3) << 2;
  let c: usize = 0;
  for (; c < bytes; c += 16) {
    let sum = v128.load(bias + c);
    for (let j: usize = 0; j < <usize>taps; j++) {
      sum = madd(v128.load(scratch + j * CHANNEL_BYTES + c), v128.load(load<usize>(lines + (j << 2)) + c), sum);
    }
    v128.store(sums + c, sum);
  }
  for (; c < <usize>count << 2; c += 4) {
    let sum = load<f32>(bias + c);
    for (let j: usize = 0; j < <usize>taps; j++) {
      sum += load<f32>(scratch + j * CHANNEL_BYTES + c) * load<f32>(load<usize>(lines + (j << 2)) + c);
    }
    store<f32>(sums + c, sum);
  }
}

/** to += a ∘ b */
function addProduct(a: usize, b: usize, count: i32, to: usize): void {
  const bytes = <usize>(count & ~3) << 2;
  let c: usize = 0;
  for (; c < bytes; c += 16) v128.store(to + c, madd(v128.load(a + c), v128.load(b + c), v128.load(to + c)));
  for (; c < <usize>count << 2; c += 4) store<f32>(to + c, load<f32>(to + c) + load<f32>(a + c) * load<f32>(b + c));
}

/** In place; a line has room for whole vectors. */
function silu(at: usize, count: i32, table: usize): void {
  for (let c: usize = 0; c < <usize>count << 2; c += 16) {
    const x = v128.load(at + c);
    v128.store(at + c, f32x4.mul(x, sigmoid4(x, table)));
  }
}

/** Tile: channels of all tokens. And dy [N, D], dx [N, D], dWeight [D, T], dBias [D]. */
export function convolutionGrad(args: usize, tile: i32, scratch: usize): void {
  const tokens = intArg(args, 5);
  const width = intArg(args, 6);
  const taps = intArg(args, 7);
  const first = tile * CHANNELS;
  const count = min(CHANNELS, width - first);
  const bytes = <usize>count << 2;
  const rowBytes = <usize>width << 2;
  const dy = pointerArg(args, 10) + (<usize>first << 2);
  const dx = pointerArg(args, 11) + (<usize>first << 2);
  const sums = sumsIn(scratch);
  const dSums = sums + CHANNEL_BYTES;
  const dBias = dSums + CHANNEL_BYTES;
  const dTaps = dBias + CHANNEL_BYTES;
  packWeights(args, first, count, scratch);
  memory.fill(dBias, 0, <usize>(taps + 1) * CHANNEL_BYTES);
  for (let n: usize = 0; n < <usize>tokens; n++) memory.fill(dx + n * rowBytes, 0, bytes);
  const table = expTable(scratch);
  for (let n = 0; n < tokens; n++) {
    memory.copy(dSums, dy + <usize>n * rowBytes, bytes);
    if (intArg(args, 8) != 0) {
      sumTaps(args, n, first, count, scratch);
      siluGrad(sums, count, dSums, table);
    }
    for (let c: usize = 0; c < bytes; c += 16) v128.store(dBias + c, f32x4.add(v128.load(dBias + c), v128.load(dSums + c)));
    for (let j = 0; j < taps; j++) {
      const x = tapOf(args, n, j, first);
      if (x == 0) continue;
      addProduct(dSums, x, count, dTaps + <usize>j * CHANNEL_BYTES);
      // Training starts from nothing, so that all taps are tokens.
      const to = x - pointerArg(args, 0) + pointerArg(args, 11);
      addProduct(scratch + <usize>j * CHANNEL_BYTES, dSums, count, to);
    }
  }
  for (let c = 0; c < count; c++) {
    const to = pointerArg(args, 12) + (<usize>((first + c) * taps) << 2);
    for (let j = 0; j < taps; j++) store<f32>(to + (<usize>j << 2), load<f32>(dTaps + <usize>j * CHANNEL_BYTES + (<usize>c << 2)));
  }
  memory.copy(pointerArg(args, 13) + (<usize>first << 2), dBias, bytes);
}

/** dy ← dy σ(x) (1 + x (1 − σ(x))) */
function siluGrad(x: usize, count: i32, dy: usize, table: usize): void {
  const one = f32x4.splat(1);
  for (let c: usize = 0; c < <usize>count << 2; c += 16) {
    const value = v128.load(x + c);
    const sigmoid = sigmoid4(value, table);
    const slope = f32x4.mul(sigmoid, madd(value, f32x4.sub(one, sigmoid), one));
    v128.store(dy + c, f32x4.mul(v128.load(dy + c), slope));
  }
}
