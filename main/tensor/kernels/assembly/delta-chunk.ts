/**
 * A chunk of the gated delta rule (Yang et al. 2024, arXiv 2412.06464) in matrix form. A head's state S [K, V] decays with
 * each token and is corrected by what it says of the token's key: S ← e^g S, S ← S + k β (v − kᵀS), o = qᵀS. With s, the
 * sum of g since the chunk's beginning, and D_ij = e^(s_i − s_j) for j ≤ i, the rows u of all corrections are
 *
 * (I + A) U = β (V − e^s K S), A_ij = β_i D_ij k_i·k_j for j < i;
 * O = e^s Q S + P U, P_ij = D_ij q_i·k_j for j ≤ i; S' = e^(s_C) S + (e^(s_C − s) K)ᵀ U.
 *
 * C tokens of a chunk; K and V are widths of a head's keys and values. Keys and queries lie transposed, [K, C], since every
 * product takes its left factor in any layout, but the right one by lines. A short chunk ends in tokens that are zeros.
 */
import { DELTA_CHUNK } from '../ids';
import { exp1, expTable, intArg, log64, madd, pointerArg, sumLanes } from './simd';
import { multiply, scaleColumns, transpose } from './delta-products';

export const CHUNK: i32 = DELTA_CHUNK;
/** Bytes of a line with a number for each of them. */
export const LINE: usize = 128;

/** Bytes from one line of V numbers to the next: whole vectors, and not a power of two, which would share cache lines. */
// @ts-ignore: decorator
@inline
export function lineOf(valueDim: i32): usize {
  return ((<usize>(valueDim + 7) & ~7) << 2) + 64;
}

/** Decays below this are 0: numbers so small that processors take long over them. */
const TINY: f32 = 1e-30;

// Buffers of a tile in scratch, each of up to 256 lines of C numbers or C lines of 256, then squares [C, C], then numbers
// for each token, then up to four states.
const BUFFER: usize = 35008;
export const KEYS: i32 = 0; // normalised, [K, C]
export const QUERIES: i32 = 1; // normalised and scaled, [K, C]
export const LEFT_KEYS: i32 = 2; // e^(s_C − s) K, [K, C]
export const VALUES: i32 = 3; // [C, V]
export const WRITTEN: i32 = 4; // U, [C, V]
export const OUT: i32 = 5; // O or its gradient, [C, V]
export const ROWS: i32 = 6; // a head's rows before they are transposed
/** The first buffer that is free for the gradient. */
export const FREE: i32 = 7;
const BUFFERS: i32 = 14;

// @ts-ignore: decorator
@inline
export function bufferIn(scratch: usize, index: i32): usize {
  return scratch + <usize>index * BUFFER;
}

export const SYSTEM: i32 = 0; // −A
export const ALIKE: i32 = 1; // A without β
export const PROBS: i32 = 2; // P
export const BETWEEN: i32 = 3; // D
export const FREE_SQUARE: i32 = 4;

// @ts-ignore: decorator
@inline
export function squareIn(scratch: usize, index: i32): usize {
  return bufferIn(scratch, BUFFERS) + ((<usize>index * <usize>CHUNK) << 7);
}

export const DECAYS: i32 = 0; // e^g
export const SINCE: i32 = 1; // e^s
export const LEFT: i32 = 2; // e^(s_C − s)
export const STRENGTH: i32 = 3; // β
export const LOGS: i32 = 4; // g
export const GRADIENTS: i32 = 5; // of g with respect to a
export const KEY_LENGTHS: i32 = 6; // 1 / |k|
export const QUERY_LENGTHS: i32 = 7;
export const FREE_LINE: i32 = 8;

// @ts-ignore: decorator
@inline
export function numbersIn(scratch: usize, index: i32): usize {
  return squareIn(scratch, 9) + <usize>index * LINE;
}

// @ts-ignore: decorator
@inline
export function stateIn(scratch: usize, index: i32): usize {
  return squareIn(scratch, 10) + <usize>index * 278784;
}

// The first parameters of all kernels of the delta rule: mixed [N, 2·keyHeads·K + valueHeads·V] of queries, keys and
// values, a and b [N, valueHeads], timeBias and decay [valueHeads], sequences int32 [S, 3] of (first token, tokens, state)
// and trees int32 [trees, 2] of (first sequence, sequences), of which the others continue the first; key heads, value
// heads, K, V.

/** Reads `count` tokens from `token` on of a value head. */
export function loadChunk(args: usize, head: i32, token: i32, count: i32, scratch: usize): void {
  const keyHeads = intArg(args, 7);
  const valueHeads = intArg(args, 8);
  const keyDim = intArg(args, 9);
  const valueDim = intArg(args, 10);
  const keyHead = head / (valueHeads / keyHeads);
  const stride = <usize>(2 * keyHeads * keyDim + valueHeads * valueDim) << 2;
  const keyBytes = <usize>keyDim << 2;
  const row = pointerArg(args, 0) + <usize>token * stride;
  const scale = <f32>(1.0 / sqrt(<f64>keyDim));
  const queries = row + <usize>keyHead * keyBytes;
  const keys = queries + <usize>keyHeads * keyBytes;
  unitRows(queries, stride, count, keyDim, scale, bufferIn(scratch, QUERIES), numbersIn(scratch, QUERY_LENGTHS), scratch);
  unitRows(keys, stride, count, keyDim, 1, bufferIn(scratch, KEYS), numbersIn(scratch, KEY_LENGTHS), scratch);
  const valueBytes = <usize>valueDim << 2;
  copyRows(row + <usize>(2 * keyHeads) * keyBytes + <usize>head * valueBytes, stride, count, valueDim, bufferIn(scratch, VALUES));
  gates(args, head, token, count, scratch);
  decaysBetween(scratch);
  scaleColumns(bufferIn(scratch, KEYS), keyDim, numbersIn(scratch, LEFT), bufferIn(scratch, LEFT_KEYS));
}

/** Rows of a head as columns of length `scale`, [width, C]; `lengths` gets the inverse of what theirs were. */
function unitRows(
  from: usize, stride: usize, count: i32, width: i32, scale: f32, to: usize, lengths: usize, scratch: usize,
): void {
  const rows = bufferIn(scratch, ROWS);
  const bytes = <usize>width << 2;
  memory.fill(lengths, 0, LINE);
  for (let i = 0; i < count; i++) {
    let squares = f32x4.splat(0);
    for (let c: usize = 0; c < bytes; c += 16) squares = madd(v128.load(from + c), v128.load(from + c), squares);
    const inverse = <f32>1.0 / sqrt<f32>(sumLanes(squares) + <f32>1e-6);
    store<f32>(lengths + (<usize>i << 2), inverse);
    const factor = f32x4.splat(inverse * scale);
    const row = rows + <usize>i * bytes;
    for (let c: usize = 0; c < bytes; c += 16) v128.store(row + c, f32x4.mul(v128.load(from + c), factor));
    from += stride;
  }
  memory.fill(rows + <usize>count * bytes, 0, <usize>(CHUNK - count) * bytes);
  transpose(rows, bytes, CHUNK, width, to, LINE);
}

/** Rows of a head with zeros up to whole lines, [C, V]. */
export function copyRows(from: usize, stride: usize, count: i32, width: i32, to: usize): void {
  const line = lineOf(width);
  memory.fill(to, 0, <usize>CHUNK * line);
  for (let i = 0; i < count; i++) memory.copy(to + <usize>i * line, from + <usize>i * stride, <usize>width << 2);
}

/** g = −e^decay · log(1 + e^(a + timeBias)) and β = 1 / (1 + e^−b) of each token, and what follows from them. */
function gates(args: usize, head: i32, token: i32, count: i32, scratch: usize): void {
  const table = expTable(scratch);
  const stride = <usize>intArg(args, 8) << 2;
  const cell = <usize>token * stride + (<usize>head << 2);
  const bias = load<f32>(pointerArg(args, 3) + (<usize>head << 2));
  const rate = exp1(load<f32>(pointerArg(args, 4) + (<usize>head << 2)), table);
  memory.fill(numbersIn(scratch, STRENGTH), 0, LINE);
  let since: f32 = 1;
  for (let i = 0; i < CHUNK; i++) {
    const at = <usize>i << 2;
    let decay: f32 = 1;
    if (i < count) {
      const x = load<f32>(pointerArg(args, 1) + cell + <usize>i * stride) + bias;
      const small = exp1(-abs(x), table);
      const g = -rate * (max<f32>(x, 0) + <f32>log64(1.0 + <f64>small));
      const sigmoid = (x > 0 ? <f32>1.0 : small) / (<f32>1.0 + small);
      const b = load<f32>(pointerArg(args, 2) + cell + <usize>i * stride);
      decay = exp1(g, table);
      store<f32>(numbersIn(scratch, STRENGTH) + at, <f32>1.0 / (<f32>1.0 + exp1(-b, table)));
      store<f32>(numbersIn(scratch, LOGS) + at, g);
      store<f32>(numbersIn(scratch, GRADIENTS) + at, -rate * sigmoid);
    }
    since *= decay;
    if (since < TINY) since = 0;
    store<f32>(numbersIn(scratch, DECAYS) + at, decay);
    store<f32>(numbersIn(scratch, SINCE) + at, since);
  }
}

/** D, and its last row. Products of decays: sums of their logarithms would lose what is small beside them. */
function decaysBetween(scratch: usize): void {
  const tiny = f32x4.splat(TINY);
  let before = squareIn(scratch, BETWEEN);
  memory.fill(before, 0, <usize>CHUNK * LINE);
  store<f32>(before, 1);
  for (let i: usize = 4; i < LINE; i += 4) {
    const decay = v128.load32_splat(numbersIn(scratch, DECAYS) + i);
    const row = before + LINE;
    for (let j: usize = 0; j < i; j += 16) {
      const product = f32x4.mul(v128.load(before + j), decay);
      v128.store(row + j, v128.and(product, f32x4.gt(product, tiny)));
    }
    store<f32>(row + i, 1);
    before = row;
  }
  memory.copy(numbersIn(scratch, LEFT), before, LINE);
}

/** The squares of a chunk. Those of queries only where they are asked for. */
export function relateTokens(keyDim: i32, withQueries: bool, scratch: usize): void {
  const keys = bufferIn(scratch, KEYS);
  lowerProduct(keys, keys, keyDim, squareIn(scratch, ALIKE));
  if (withQueries) lowerProduct(bufferIn(scratch, QUERIES), keys, keyDim, squareIn(scratch, PROBS));
  for (let i = 0; i < CHUNK; i++) {
    const row = <usize>i * LINE;
    const cell = <usize>i << 2;
    const strength = f32x4.neg(v128.load32_splat(numbersIn(scratch, STRENGTH) + cell));
    for (let j: usize = 0; j <= cell; j += 16) {
      const between = v128.load(squareIn(scratch, BETWEEN) + row + j);
      const alike = f32x4.mul(v128.load(squareIn(scratch, ALIKE) + row + j), between);
      v128.store(squareIn(scratch, ALIKE) + row + j, alike);
      v128.store(squareIn(scratch, SYSTEM) + row + j, f32x4.mul(alike, strength));
      if (withQueries) {
        const probs = squareIn(scratch, PROBS) + row + j;
        v128.store(probs, f32x4.mul(v128.load(probs), between));
      }
    }
    memory.fill(squareIn(scratch, SYSTEM) + row + cell, 0, LINE - cell);
    memory.fill(squareIn(scratch, ALIKE) + row + cell, 0, LINE - cell);
    memory.fill(squareIn(scratch, PROBS) + row + cell + 4, 0, LINE - cell - 4);
  }
}

/** Xᵀ·Y of two [K, C], without the upper right quarter, which nobody reads. */
function lowerProduct(x: usize, y: usize, keyDim: i32, square: usize): void {
  multiply(16, 16, keyDim, x, 4, LINE, y, LINE, square, LINE, false);
  multiply(16, CHUNK, keyDim, x + 64, 4, LINE, y, LINE, square + 16 * LINE, LINE, false);
}

/** U from the state before the chunk. */
export function solve(keyDim: i32, valueDim: i32, state: usize, scratch: usize): void {
  const line = lineOf(valueDim);
  const columns = (valueDim + 7) & ~7;
  const written = bufferIn(scratch, WRITTEN);
  multiply(CHUNK, columns, keyDim, bufferIn(scratch, KEYS), 4, LINE, state, line, written, line, false);
  for (let i = 0; i < CHUNK; i++) {
    const since = v128.load32_splat(numbersIn(scratch, SINCE) + (<usize>i << 2));
    const strength = v128.load32_splat(numbersIn(scratch, STRENGTH) + (<usize>i << 2));
    const values = bufferIn(scratch, VALUES) + <usize>i * line;
    const row = written + <usize>i * line;
    for (let c: usize = 0; c < line - 64; c += 16) {
      const known = f32x4.mul(since, v128.load(row + c));
      v128.store(row + c, f32x4.mul(strength, f32x4.sub(v128.load(values + c), known)));
    }
  }
  const system = squareIn(scratch, SYSTEM);
  for (let i = 0; i < CHUNK; i += 4) {
    const rows = written + <usize>i * line;
    const block = system + <usize>i * LINE;
    if (i > 0) multiply(4, columns, i, block, LINE, 4, written, line, rows, line, true);
    for (let r = 1; r < 4; r++) {
      for (let c = 0; c < r; c++) addScaled(rows + <usize>c * line, block + <usize>r * LINE + (<usize>(i + c) << 2), line - 64, rows + <usize>r * line);
    }
  }
}

/** to += factor · from over so many bytes. */
export function addScaled(from: usize, factor: usize, bytes: usize, to: usize): void {
  const factor4 = v128.load32_splat(factor);
  for (let c: usize = 0; c < bytes; c += 16) v128.store(to + c, madd(factor4, v128.load(from + c), v128.load(to + c)));
}

/** The state after the chunk, in place. */
export function advance(keyDim: i32, valueDim: i32, state: usize, scratch: usize): void {
  const line = lineOf(valueDim);
  const decay = v128.load32_splat(numbersIn(scratch, SINCE) + LINE - 4);
  const end = state + <usize>keyDim * line;
  for (let at = state; at < end; at += 16) v128.store(at, f32x4.mul(v128.load(at), decay));
  const keys = bufferIn(scratch, LEFT_KEYS);
  multiply(keyDim, (valueDim + 7) & ~7, CHUNK, keys, LINE, 4, bufferIn(scratch, WRITTEN), line, state, line, true);
}
