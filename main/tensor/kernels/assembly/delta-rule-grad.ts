/**
 * Backward pass of the gated delta rule, chunk by chunk from the last one, after a pass forward that stores each chunk's
 * state S and rows U. With dO and the gradient dS' of the state after the chunk, in the terms of delta-chunk.ts:
 *
 * dU = Pᵀ dO + e^(s_C − s) K dS', (I + A)ᵀ dR = dU, dA = −dR Uᵀ, dP = dO Uᵀ, dV = β dR,
 * dQ = e^s dO Sᵀ + (dP ∘ D) K, dS = e^(s_C) dS' − (β e^s K)ᵀ dR + (e^s Q)ᵀ dO,
 * dK = −β e^s dR Sᵀ + e^(s_C − s) U dS'ᵀ + (M + Mᵀ) K + (dP ∘ D)ᵀ Q, M_ij = β_i dA_ij D_ij,
 * and ds, dβ from the same products.
 */
import {
  addScaled,
  advance,
  ALIKE,
  BETWEEN,
  bufferIn,
  CHUNK,
  copyRows,
  FREE,
  FREE_LINE,
  FREE_SQUARE,
  KEY_LENGTHS,
  KEYS,
  LEFT,
  LEFT_KEYS,
  LINE,
  lineOf,
  loadChunk,
  LOGS,
  numbersIn,
  OUT,
  PROBS,
  QUERIES,
  QUERY_LENGTHS,
  relateTokens,
  ROWS,
  SINCE,
  GRADIENTS,
  solve,
  squareIn,
  stateIn,
  STRENGTH,
  SYSTEM,
  VALUES,
  WRITTEN,
} from './delta-chunk';
import { dotColumns, multiply, scaleColumns, transpose } from './delta-products';
import { intArg, madd, pointerArg, sumLanes } from './simd';

// Buffers beyond those of a chunk.
const D_RIGHT: i32 = FREE; // dU, then dR, [C, V]
const TRANSPOSED: i32 = FREE + 1; // of rows [C, V], [V, C]
const D_KEYS: i32 = FREE + 2; // [K, C]
const D_QUERIES: i32 = FREE + 3; // [K, C]
const OTHER: i32 = FREE + 4; // [K, C]

// Squares.
const D_SYSTEM: i32 = FREE_SQUARE; // −dA, then M + Mᵀ
const D_PROBS: i32 = FREE_SQUARE + 1; // dP, then dP ∘ D
const D_PROBS_TRANSPOSED: i32 = FREE_SQUARE + 2;

// Numbers of each token.
const D_SUMS: i32 = FREE_LINE;
const D_STRENGTH: i32 = FREE_LINE + 1;
const DOTS: i32 = FREE_LINE + 2;
const FACTORS: i32 = FREE_LINE + 3;

// States: the running one of the pass forward, then of its gradient; the gradient of a tree's first sequence's last one.
const RUNNING: i32 = 0;
const D_STATE: i32 = 1;
const D_ROOT: i32 = 2;

/**
 * Tile: a key head of a tree of sequences, for all value heads that share it. Parameters after the first eleven: dy
 * [N, valueHeads·V], dMixed like mixed, dA, dB and dDecay [N, valueHeads] (of which the last is each token's part), room
 * for the states and rows of a tile's chunks [tiles, roomChunks], roomChunks.
 */
export function deltaRuleGrad(args: usize, tile: i32, scratch: usize): void {
  const keyHeads = intArg(args, 7);
  const times = intArg(args, 8) / keyHeads;
  const tree = pointerArg(args, 6) + (<usize>(tile / keyHeads) << 3);
  const room = pointerArg(args, 16) + <usize>tile * <usize>intArg(args, 17) * chunkBytes(args);
  for (let i = 0; i < times; i++) gradTree(args, (tile % keyHeads) * times + i, i > 0, tree, room, scratch);
}

/** Bytes that a chunk takes in a tile's room: its state, and its rows U. */
function chunkBytes(args: usize): usize {
  return <usize>(intArg(args, 9) + CHUNK) * lineOf(intArg(args, 10));
}

/** `more`: the key head's gradient has those of other value heads already. */
function gradTree(args: usize, head: i32, more: bool, tree: usize, room: usize, scratch: usize): void {
  const stateBytes = <usize>intArg(args, 9) * lineOf(intArg(args, 10));
  const root = pointerArg(args, 5) + <usize>load<i32>(tree) * 12;
  const dState = stateIn(scratch, D_STATE);
  const dRoot = stateIn(scratch, D_ROOT);
  memory.fill(stateIn(scratch, RUNNING), 0, stateBytes);
  memory.fill(dRoot, 0, stateBytes);
  // What the first sequence leaves comes after its chunks.
  const end = storeChunks(args, head, root, room, scratch);
  memory.copy(end, stateIn(scratch, RUNNING), stateBytes);
  const own = end + chunkBytes(args);
  for (let i = 1; i < load<i32>(tree, 4); i++) {
    const sequence = root + <usize>i * 12;
    memory.copy(stateIn(scratch, RUNNING), end, stateBytes);
    storeChunks(args, head, sequence, own, scratch);
    memory.fill(dState, 0, stateBytes);
    gradChunks(args, head, more, sequence, own, scratch);
    for (let at: usize = 0; at < stateBytes; at += 16) v128.store(dRoot + at, f32x4.add(v128.load(dRoot + at), v128.load(dState + at)));
  }
  memory.copy(dState, dRoot, stateBytes);
  gradChunks(args, head, more, root, room, scratch);
}

/** The pass forward: stores each chunk's state and rows, and gives where the next would go. */
function storeChunks(args: usize, head: i32, sequence: usize, room: usize, scratch: usize): usize {
  const keyDim = intArg(args, 9);
  const valueDim = intArg(args, 10);
  const state = stateIn(scratch, RUNNING);
  const stateBytes = <usize>keyDim * lineOf(valueDim);
  const length = load<i32>(sequence, 4);
  for (let first = 0; first < length; first += CHUNK) {
    loadChunk(args, head, load<i32>(sequence) + first, min(CHUNK, length - first), scratch);
    relateTokens(keyDim, false, scratch);
    memory.copy(room, state, stateBytes);
    solve(keyDim, valueDim, state, scratch);
    memory.copy(room + stateBytes, bufferIn(scratch, WRITTEN), <usize>CHUNK * lineOf(valueDim));
    advance(keyDim, valueDim, state, scratch);
    room += chunkBytes(args);
  }
  return room;
}

function gradChunks(args: usize, head: i32, more: bool, sequence: usize, room: usize, scratch: usize): void {
  const start = load<i32>(sequence);
  const length = load<i32>(sequence, 4);
  for (let chunk = (length + CHUNK - 1) / CHUNK - 1; chunk >= 0; chunk--) {
    const first = chunk * CHUNK;
    gradChunk(args, head, more, start + first, min(CHUNK, length - first), room + <usize>chunk * chunkBytes(args), scratch);
  }
}

function gradChunk(args: usize, head: i32, more: bool, token: i32, count: i32, room: usize, scratch: usize): void {
  const keyDim = intArg(args, 9);
  const valueDim = intArg(args, 10);
  const valueBytes = <usize>valueDim << 2;
  const stride = <usize>intArg(args, 8) * valueBytes;
  const written = room + <usize>keyDim * lineOf(valueDim);
  const dState = stateIn(scratch, D_STATE);
  loadChunk(args, head, token, count, scratch);
  relateTokens(keyDim, true, scratch);
  const dy = pointerArg(args, 11) + <usize>token * stride + <usize>head * valueBytes;
  copyRows(dy, stride, count, valueDim, bufferIn(scratch, OUT));
  solveBack(keyDim, valueDim, dState, scratch);
  gradSquares(valueDim, written, scratch);
  gradThroughStates(keyDim, valueDim, room, count, scratch);
  gradKeysAndQueries(keyDim, scratch);
  gradState(keyDim, valueDim, dState, scratch);
  storeGates(args, head, token, count, scratch);
  storeValues(args, head, token, count, scratch);
  storeHeads(args, head, more, token, count, scratch);
}

/** dR, from dO and the gradient of the state after the chunk. */
function solveBack(keyDim: i32, valueDim: i32, dState: usize, scratch: usize): void {
  const line = lineOf(valueDim);
  const columns = (valueDim + 7) & ~7;
  const right = bufferIn(scratch, D_RIGHT);
  const dOut = bufferIn(scratch, OUT);
  multiply(CHUNK, columns, keyDim, bufferIn(scratch, LEFT_KEYS), 4, LINE, dState, line, right, line, false);
  for (let j = CHUNK - 4; j >= 0; j -= 4) {
    const rows = right + <usize>j * line;
    const cell = <usize>j * LINE + (<usize>j << 2);
    multiply(4, columns, CHUNK - j, squareIn(scratch, PROBS) + cell, 4, LINE, dOut + <usize>j * line, line, rows, line, true);
    const system = squareIn(scratch, SYSTEM) + cell;
    if (j + 4 < CHUNK) multiply(4, columns, CHUNK - j - 4, system + 4 * LINE, 4, LINE, rows + 4 * line, line, rows, line, true);
    for (let r = 2; r >= 0; r--) {
      for (let c = r + 1; c < 4; c++) addScaled(rows + <usize>c * line, system + <usize>c * LINE + (<usize>r << 2), line - 64, rows + <usize>r * line);
    }
  }
}

/** The squares' gradients from dR and dO, and what they say of the decay and the strength. */
function gradSquares(valueDim: i32, written: usize, scratch: usize): void {
  const line = lineOf(valueDim);
  const columns = (valueDim + 7) & ~7;
  const across = bufferIn(scratch, TRANSPOSED);
  transpose(written, line, CHUNK, columns, across, LINE);
  multiply(CHUNK, CHUNK, columns, bufferIn(scratch, D_RIGHT), line, 4, across, LINE, squareIn(scratch, D_SYSTEM), LINE, false);
  multiply(CHUNK, CHUNK, columns, bufferIn(scratch, OUT), line, 4, across, LINE, squareIn(scratch, D_PROBS), LINE, false);
  const dSums = numbersIn(scratch, D_SUMS);
  memory.fill(dSums, 0, LINE);
  for (let i = 0; i < CHUNK; i++) {
    const row = <usize>i * LINE;
    const cell = <usize>i << 2;
    const dSystem = squareIn(scratch, D_SYSTEM) + row;
    const dProbs = squareIn(scratch, D_PROBS) + row;
    const strength = f32x4.neg(v128.load32_splat(numbersIn(scratch, STRENGTH) + cell));
    // A token's own probability knows no decay.
    store<f32>(squareIn(scratch, PROBS) + row + cell, 0);
    let dSum = f32x4.splat(0);
    let dStrength = f32x4.splat(0);
    for (let j: usize = 0; j < LINE; j += 16) {
      const dA = v128.load(dSystem + j);
      const dP = v128.load(dProbs + j);
      const between = v128.load(squareIn(scratch, BETWEEN) + row + j);
      const probs = v128.load(squareIn(scratch, PROBS) + row + j);
      const through = madd(dA, v128.load(squareIn(scratch, SYSTEM) + row + j), f32x4.mul(dP, probs));
      dSum = f32x4.add(dSum, through);
      v128.store(dSums + j, f32x4.sub(v128.load(dSums + j), through));
      dStrength = madd(dA, v128.load(squareIn(scratch, ALIKE) + row + j), dStrength);
      v128.store(dProbs + j, f32x4.mul(dP, between));
      v128.store(dSystem + j, f32x4.mul(f32x4.mul(dA, between), strength));
    }
    memory.fill(dSystem + cell, 0, LINE - cell);
    store<f32>(dSums + cell, load<f32>(dSums + cell) + sumLanes(dSum));
    store<f32>(numbersIn(scratch, D_STRENGTH) + cell, -sumLanes(dStrength));
  }
  // M is strictly lower: its mirror image goes above it.
  const dSystem = squareIn(scratch, D_SYSTEM);
  for (let i: usize = 0; i < <usize>CHUNK; i++) {
    for (let j: usize = 0; j < i; j++) store<f32>(dSystem + j * LINE + (i << 2), load<f32>(dSystem + i * LINE + (j << 2)));
  }
  transpose(squareIn(scratch, D_PROBS), LINE, CHUNK, CHUNK, squareIn(scratch, D_PROBS_TRANSPOSED), LINE);
}

/** The parts of dK and dQ by way of the states before and after the chunk, and what they say of decay and strength. */
function gradThroughStates(keyDim: i32, valueDim: i32, state: usize, count: i32, scratch: usize): void {
  const line = lineOf(valueDim);
  const columns = (valueDim + 7) & ~7;
  const across = bufferIn(scratch, TRANSPOSED);
  const dState = stateIn(scratch, D_STATE);
  const dots = numbersIn(scratch, DOTS);
  const dKeys = bufferIn(scratch, D_KEYS);
  const other = bufferIn(scratch, OTHER);
  const end = numbersIn(scratch, D_SUMS) + (<usize>(count - 1) << 2);

  // U is still transposed.
  multiply(keyDim, CHUNK, columns, dState, line, 4, across, LINE, dKeys, LINE, false);
  dotColumns(bufferIn(scratch, LEFT_KEYS), dKeys, keyDim, dots);
  let total = f32x4.splat(0);
  for (let c: usize = 0; c < LINE; c += 16) {
    const dot = v128.load(dots + c);
    total = f32x4.add(total, dot);
    const dSums = numbersIn(scratch, D_SUMS) + c;
    v128.store(dSums, f32x4.sub(v128.load(dSums), dot));
  }
  const decay = load<f32>(numbersIn(scratch, SINCE) + LINE - 4);
  store<f32>(end, load<f32>(end) + sumLanes(total) + decay * dotStates(state, dState, <usize>keyDim * line));
  scaleColumns(dKeys, keyDim, numbersIn(scratch, LEFT), dKeys);

  transpose(bufferIn(scratch, D_RIGHT), line, CHUNK, columns, across, LINE);
  multiply(keyDim, CHUNK, columns, state, line, 4, across, LINE, other, LINE, false);
  dotColumns(bufferIn(scratch, KEYS), other, keyDim, dots);
  const factors = numbersIn(scratch, FACTORS);
  for (let c: usize = 0; c < LINE; c += 16) {
    const since = v128.load(numbersIn(scratch, SINCE) + c);
    const factor = f32x4.neg(f32x4.mul(v128.load(numbersIn(scratch, STRENGTH) + c), since));
    const dot = v128.load(dots + c);
    v128.store(factors + c, factor);
    const dStrength = numbersIn(scratch, D_STRENGTH) + c;
    v128.store(dStrength, f32x4.sub(v128.load(dStrength), f32x4.mul(since, dot)));
    const dSums = numbersIn(scratch, D_SUMS) + c;
    v128.store(dSums, madd(factor, dot, v128.load(dSums)));
  }
  addColumns(other, keyDim, factors, dKeys);

  transpose(bufferIn(scratch, OUT), line, CHUNK, columns, across, LINE);
  const dQueries = bufferIn(scratch, D_QUERIES);
  multiply(keyDim, CHUNK, columns, state, line, 4, across, LINE, dQueries, LINE, false);
  scaleColumns(dQueries, keyDim, numbersIn(scratch, SINCE), dQueries);
  dotColumns(bufferIn(scratch, QUERIES), dQueries, keyDim, dots);
  for (let c: usize = 0; c < LINE; c += 16) {
    const dSums = numbersIn(scratch, D_SUMS) + c;
    v128.store(dSums, f32x4.add(v128.load(dSums), v128.load(dots + c)));
  }
}

/** The sum of a ∘ b, of so many bytes. The padding of states is zeros. */
function dotStates(a: usize, b: usize, bytes: usize): f32 {
  let sum = f32x4.splat(0);
  for (let at: usize = 0; at < bytes; at += 16) sum = madd(v128.load(a + at), v128.load(b + at), sum);
  return sumLanes(sum);
}

/** to += from · diag(factors) */
function addColumns(from: usize, lines: i32, factors: usize, to: usize): void {
  for (let line: usize = 0; line < <usize>lines * LINE; line += LINE) {
    for (let c: usize = 0; c < LINE; c += 16) {
      v128.store(to + line + c, madd(v128.load(from + line + c), v128.load(factors + c), v128.load(to + line + c)));
    }
  }
}

/** The parts of dK and dQ within the chunk. */
function gradKeysAndQueries(keyDim: i32, scratch: usize): void {
  const keys = bufferIn(scratch, KEYS);
  const dKeys = bufferIn(scratch, D_KEYS);
  multiply(keyDim, CHUNK, CHUNK, keys, LINE, 4, squareIn(scratch, D_SYSTEM), LINE, dKeys, LINE, true);
  multiply(keyDim, CHUNK, CHUNK, bufferIn(scratch, QUERIES), LINE, 4, squareIn(scratch, D_PROBS), LINE, dKeys, LINE, true);
  const dQueries = bufferIn(scratch, D_QUERIES);
  multiply(keyDim, CHUNK, CHUNK, keys, LINE, 4, squareIn(scratch, D_PROBS_TRANSPOSED), LINE, dQueries, LINE, true);
}

/** The gradient of the state before the chunk, in place of that after it. */
function gradState(keyDim: i32, valueDim: i32, dState: usize, scratch: usize): void {
  const line = lineOf(valueDim);
  const columns = (valueDim + 7) & ~7;
  const decay = v128.load32_splat(numbersIn(scratch, SINCE) + LINE - 4);
  const end = dState + <usize>keyDim * line;
  for (let at = dState; at < end; at += 16) v128.store(at, f32x4.mul(v128.load(at), decay));
  const scaled = bufferIn(scratch, OTHER);
  scaleColumns(bufferIn(scratch, KEYS), keyDim, numbersIn(scratch, FACTORS), scaled);
  multiply(keyDim, columns, CHUNK, scaled, LINE, 4, bufferIn(scratch, D_RIGHT), line, dState, line, true);
  scaleColumns(bufferIn(scratch, QUERIES), keyDim, numbersIn(scratch, SINCE), scaled);
  multiply(keyDim, columns, CHUNK, scaled, LINE, 4, bufferIn(scratch, OUT), line, dState, line, true);
}

/** dA, dB and dDecay. A token's decay counts for all sums from it on. */
function storeGates(args: usize, head: i32, token: i32, count: i32, scratch: usize): void {
  const line = lineOf(intArg(args, 10));
  const stride = <usize>intArg(args, 8) << 2;
  let dLog: f64 = 0;
  for (let i = count - 1; i >= 0; i--) {
    const at = <usize>i << 2;
    const cell = <usize>(token + i) * stride + (<usize>head << 2);
    dLog += <f64>load<f32>(numbersIn(scratch, D_SUMS) + at);
    store<f32>(pointerArg(args, 13) + cell, <f32>dLog * load<f32>(numbersIn(scratch, GRADIENTS) + at));
    store<f32>(pointerArg(args, 15) + cell, <f32>dLog * load<f32>(numbersIn(scratch, LOGS) + at));
    const strength = load<f32>(numbersIn(scratch, STRENGTH) + at);
    const direct = dotStates(bufferIn(scratch, D_RIGHT) + <usize>i * line, bufferIn(scratch, VALUES) + <usize>i * line, line - 64);
    const dStrength = load<f32>(numbersIn(scratch, D_STRENGTH) + at) + direct;
    store<f32>(pointerArg(args, 14) + cell, dStrength * strength * (<f32>1.0 - strength));
  }
}

/** Where a token's channels begin in dMixed, and bytes from one token to the next. */
// @ts-ignore: decorator
@inline
function strideOf(args: usize): usize {
  return <usize>(2 * intArg(args, 7) * intArg(args, 9) + intArg(args, 8) * intArg(args, 10)) << 2;
}

/** dV = β dR */
function storeValues(args: usize, head: i32, token: i32, count: i32, scratch: usize): void {
  const valueDim = intArg(args, 10);
  const stride = strideOf(args);
  const channel = <usize>(2 * intArg(args, 7) * intArg(args, 9) + head * valueDim) << 2;
  let to = pointerArg(args, 12) + <usize>token * stride + channel;
  let from = bufferIn(scratch, D_RIGHT);
  for (let i = 0; i < count; i++) {
    const strength = v128.load32_splat(numbersIn(scratch, STRENGTH) + (<usize>i << 2));
    for (let c: usize = 0; c < <usize>valueDim << 2; c += 16) v128.store(to + c, f32x4.mul(v128.load(from + c), strength));
    to += stride;
    from += lineOf(valueDim);
  }
}

/** The gradients of keys and queries before they were given their length. */
function storeHeads(args: usize, head: i32, more: bool, token: i32, count: i32, scratch: usize): void {
  const keyHeads = intArg(args, 7);
  const keyDim = intArg(args, 9);
  const keyHead = head / (intArg(args, 8) / keyHeads);
  const stride = strideOf(args);
  const queries = pointerArg(args, 12) + <usize>token * stride + (<usize>(keyHead * keyDim) << 2);
  const scale = <f32>(1.0 / sqrt(<f64>keyDim));
  storeRows(QUERIES, D_QUERIES, QUERY_LENGTHS, scale, keyDim, count, more, queries, stride, scratch);
  const keys = queries + (<usize>(keyHeads * keyDim) << 2);
  storeRows(KEYS, D_KEYS, KEY_LENGTHS, 1, keyDim, count, more, keys, stride, scratch);
}

/** With y = scale · x / |x|: dx = (dy − y (y·dy) / scale²) · scale / |x|. */
function storeRows(
  source: i32, gradientOf: i32, lengths: i32, scale: f32, keyDim: i32, count: i32, more: bool, to: usize, stride: usize, scratch: usize,
): void {
  const gradient = bufferIn(scratch, gradientOf);
  const dots = numbersIn(scratch, DOTS);
  dotColumns(bufferIn(scratch, source), gradient, keyDim, dots);
  const along = f32x4.splat(-1.0 / (scale * scale));
  for (let c: usize = 0; c < LINE; c += 16) v128.store(dots + c, f32x4.mul(v128.load(dots + c), along));
  addColumns(bufferIn(scratch, source), keyDim, dots, gradient);
  const rows = bufferIn(scratch, ROWS);
  const bytes = <usize>keyDim << 2;
  transpose(gradient, LINE, keyDim, CHUNK, rows, bytes);
  for (let i: usize = 0; i < <usize>count; i++) {
    const factor = f32x4.splat(scale * load<f32>(numbersIn(scratch, lengths) + (i << 2)));
    const row = rows + i * bytes;
    const target = to + i * stride;
    for (let c: usize = 0; c < bytes; c += 16) {
      const value = f32x4.mul(v128.load(row + c), factor);
      v128.store(target + c, more ? f32x4.add(v128.load(target + c), value) : value);
    }
  }
}
