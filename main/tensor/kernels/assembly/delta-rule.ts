/** The gated delta rule over packed sequences. The chunk's formulas are in delta-chunk.ts. */
import {
  advance,
  bufferIn,
  CHUNK,
  LINE,
  lineOf,
  loadChunk,
  numbersIn,
  OUT,
  PROBS,
  QUERIES,
  relateTokens,
  SINCE,
  solve,
  squareIn,
  stateIn,
  WRITTEN,
} from './delta-chunk';
import { multiply } from './delta-products';
import { intArg, pointerArg } from './simd';

/** The states that a tile keeps: the running one, and the one that sequences continue. */
const RUNNING: i32 = 0;
const ROOT: i32 = 1;

/**
 * Tile: a value head of a tree of sequences. Parameters after the first eleven: initial states [S, valueHeads·K·V] or 0,
 * out [N, valueHeads·V], last states like the initial ones or 0.
 */
export function deltaRule(args: usize, tile: i32, scratch: usize): void {
  const heads = intArg(args, 8);
  const keyDim = intArg(args, 9);
  const valueDim = intArg(args, 10);
  const head = tile % heads;
  const tree = pointerArg(args, 6) + (<usize>(tile / heads) << 3);
  const bytes = <usize>keyDim * lineOf(valueDim);
  const state = stateIn(scratch, RUNNING);
  const root = stateIn(scratch, ROOT);
  memory.fill(state, 0, bytes);
  let sequence = pointerArg(args, 5) + <usize>load<i32>(tree) * 12;
  const count = load<i32>(tree, 4);
  if (pointerArg(args, 11) != 0) loadState(stateAt(args, 11, sequence, head), keyDim, valueDim, state);
  for (let i = 0; i < count; i++) {
    if (i > 0) memory.copy(state, root, bytes);
    readSequence(args, head, load<i32>(sequence), load<i32>(sequence, 4), scratch);
    if (pointerArg(args, 13) != 0) storeState(state, keyDim, valueDim, stateAt(args, 13, sequence, head));
    if (i == 0 && count > 1) memory.copy(root, state, bytes);
    sequence += 12;
  }
}

/** Where a head's state of a sequence is among those of a parameter. */
function stateAt(args: usize, parameter: usize, sequence: usize, head: i32): usize {
  const row = <usize>load<i32>(sequence, 8) * <usize>intArg(args, 8) + <usize>head;
  return pointerArg(args, parameter) + ((row * <usize>intArg(args, 9) * <usize>intArg(args, 10)) << 2);
}

function loadState(from: usize, keyDim: i32, valueDim: i32, to: usize): void {
  const line = lineOf(valueDim);
  const bytes = <usize>valueDim << 2;
  for (let k: usize = 0; k < <usize>keyDim; k++) memory.copy(to + k * line, from + k * bytes, bytes);
}

function storeState(from: usize, keyDim: i32, valueDim: i32, to: usize): void {
  const line = lineOf(valueDim);
  const bytes = <usize>valueDim << 2;
  for (let k: usize = 0; k < <usize>keyDim; k++) memory.copy(to + k * bytes, from + k * line, bytes);
}

function readSequence(args: usize, head: i32, start: i32, length: i32, scratch: usize): void {
  const keyDim = intArg(args, 9);
  const valueDim = intArg(args, 10);
  const state = stateIn(scratch, RUNNING);
  const stride = <usize>(intArg(args, 8) * valueDim) << 2;
  const out = pointerArg(args, 12) + <usize>start * stride + (<usize>(head * valueDim) << 2);
  for (let first = 0; first < length; first += CHUNK) {
    const count = min(CHUNK, length - first);
    loadChunk(args, head, start + first, count, scratch);
    relateTokens(keyDim, true, scratch);
    solve(keyDim, valueDim, state, scratch);
    read(keyDim, valueDim, state, count, out + <usize>first * stride, stride, scratch);
    advance(keyDim, valueDim, state, scratch);
  }
}

/** O = e^s Q S + P U, of which `count` rows go out. */
function read(
  keyDim: i32, valueDim: i32, state: usize, count: i32, out: usize, stride: usize, scratch: usize,
): void {
  const line = lineOf(valueDim);
  const columns = (valueDim + 7) & ~7;
  const rows = bufferIn(scratch, OUT);
  multiply((count + 3) & ~3, columns, keyDim, bufferIn(scratch, QUERIES), 4, LINE, state, line, rows, line, false);
  for (let i = 0; i < count; i++) {
    const row = rows + <usize>i * line;
    const since = v128.load32_splat(numbersIn(scratch, SINCE) + (<usize>i << 2));
    for (let c: usize = 0; c < line - 64; c += 16) v128.store(row + c, f32x4.mul(v128.load(row + c), since));
  }
  for (let i = 0; i < count; i += 4) {
    const probs = squareIn(scratch, PROBS) + <usize>i * LINE;
    multiply(4, columns, i + 4, probs, LINE, 4, bufferIn(scratch, WRITTEN), line, rows + <usize>i * line, line, true);
  }
  for (let i: usize = 0; i < <usize>count; i++) memory.copy(out + i * stride, rows + i * line, <usize>valueDim << 2);
}
