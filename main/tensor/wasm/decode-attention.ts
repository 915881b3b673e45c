/** Attention of one new token a row against a shared prefix and the row's own cache. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { DECODE_ATTENTION, PACK_PREFIX } from '../kernels/ids.ts';
import { type HeadShape, headShape } from './attention.ts';
import { type FusedCall, matrixShape, registerFused, serialElements, withTables } from './fused.ts';
import type { WasmRuntime } from './runtime.ts';

/** Rows (tokens times query heads of a group) that a tile holds, as in assembly/blocks.ts. */
const blockRows = 64;
/** Multiplications below which waking the workers costs more than it saves. */
const serialWork = 1 << 16;

/** Keys of a panel: a packed prompt takes whole ones. */
const panelKeys = 8;

/**
 * Registers 'PackPrefix' and 'DecodeAttention', which takes prompts as the first leaves them and writes `k` and `v` into
 * `ownK` and `ownV` in place.
 */
export function registerDecodeAttention(runtime: WasmRuntime): void {
  registerFused(runtime, 'PackPrefix', packPrefix);
  registerFused(runtime, 'DecodeAttention', decodeAttention);
}

function packPrefix(runtime: WasmRuntime, call: FusedCall): TensorInfo[] {
  const { heap, pool } = runtime;
  const { kvHeads, headDim } = headShape(call);
  const [tokens] = matrixShape(call, 'k');
  for (const name of ['k', 'v']) call.expectShape(name, [tokens, kvHeads * headDim]);
  const [count] = matrixShape(call, 'prompts');
  call.expectShape('prompts', [count, 3]);
  const places = call.number('places');
  const prompts = heap.i32(call.pointer('prompts'), count * 3);
  for (let at = 0; at < prompts.length; at += 3) {
    const [start = 0, length = 0, to = 0] = prompts.subarray(at, at + 3);
    checkRange('a prompt', start, length, tokens);
    checkPlaces(to, length, places);
  }
  const packedK = heap.output([kvHeads, places, headDim], 'float32');
  const packedV = heap.output([kvHeads, places, headDim], 'float32');
  const pointers = [call.pointer('k'), call.pointer('v'), heap.pointer(packedK), heap.pointer(packedV)];
  const args = [...pointers, call.pointer('prompts'), kvHeads, headDim, places];
  pool.run(PACK_PREFIX, args, count * kvHeads, tokens * kvHeads * headDim > serialElements);
  return [packedK, packedV];
}

function decodeAttention(runtime: WasmRuntime, call: FusedCall): TensorInfo {
  const { heap, pool } = runtime;
  const { heads, kvHeads, headDim, group, scale } = headShape(call);
  const [batch] = matrixShape(call, 'q');
  const [, places = 0] = call.shape('prefixK');
  const [slots = 0, , capacity = 0] = call.shape('ownK');
  const width = kvHeads * headDim;
  call.expectShape('q', [batch, heads * headDim]);
  for (const name of ['k', 'v']) call.expectShape(name, [batch, width]);
  for (const name of ['prefixK', 'prefixV']) call.expectShape(name, [kvHeads, places, headDim]);
  for (const name of ['ownK', 'ownV']) call.expectShape(name, [slots, kvHeads, capacity, headDim]);
  call.expectShape('rows', [batch, 3]);
  call.expectShape('positions', [batch]);
  const rows = heap.i32(call.pointer('rows'), batch * 3);
  checkRows(rows, slots, places);
  const positions = heap.i32(call.pointer('positions'), batch);
  const keys = checkPositions(positions, rows, capacity);
  const out = heap.output([batch, heads * headDim], 'float32');
  const plan = decodePlan(rows, group, kvHeads, pool.threads);
  const [q = 0, k = 0, v = 0, prefixK = 0, prefixV = 0, ownK = 0, ownV = 0, table = 0, positionsAt = 0] = [
    'q',
    'k',
    'v',
    'prefixK',
    'prefixV',
    'ownK',
    'ownV',
    'rows',
    'positions',
  ].map((name) => call.pointer(name));
  withTables(heap, [plan], ([planAt = 0]) => {
    decodeAttentionAt(
      runtime,
      { heads, kvHeads, headDim, group, scale },
      {
        q,
        k,
        v,
        prefixK,
        prefixV,
        ownK,
        ownV,
        rows: table,
        out: heap.pointer(out),
        plan: planAt,
        runs: plan.length / 2,
        positions: positionsAt,
        capacity,
        places,
        keys,
      },
    );
  });
  return out;
}

/** What attention of a step reads and writes, at the level of addresses. */
export interface DecodeAttentionAt {
  readonly q: number;
  readonly k: number;
  readonly v: number;
  readonly prefixK: number;
  readonly prefixV: number;
  readonly ownK: number;
  readonly ownV: number;
  readonly rows: number;
  readonly out: number;
  /** From `decodePlan`, and its runs. */
  readonly plan: number;
  readonly runs: number;
  readonly positions: number;
  readonly capacity: number;
  readonly places: number;
  /** About how many keys all rows see. */
  readonly keys: number;
}

/** Attention of one new token a row. */
export function decodeAttentionAt({ pool }: WasmRuntime, shape: HeadShape, at: DecodeAttentionAt): void {
  const { heads, kvHeads, headDim, scale } = shape;
  const args = [at.q, at.k, at.v, at.prefixK, at.prefixV, at.ownK, at.ownV, at.rows, at.out, at.plan];
  args.push(heads, kvHeads, headDim, scale, at.positions, at.capacity, at.places);
  pool.run(DECODE_ATTENTION, args, at.runs * kvHeads, at.keys * heads * headDim > serialWork);
}

/** Which rows attend together: (first row, rows) each. `rows`: slot, prefix start and prefix length of each. */
export function decodePlan(rows: Int32Array, group: number, kvHeads: number, threads: number): number[] {
  return runsOf(rows, rowsPerRun(rows.length / 3, group, kvHeads, threads));
}

function checkRows(rows: Int32Array, slots: number, places: number): void {
  for (let at = 0; at < rows.length; at += 3) {
    const [slot = 0, start = 0, length = 0] = rows.subarray(at, at + 3);
    if (slot < 0 || slot >= slots) throw new RangeError(`Expected a slot in 0..${slots - 1}, got ${slot}`);
    checkPlaces(start, length, places);
  }
}

/** Checks that each row's own cache has room for its token; returns how many keys all rows see. */
function checkPositions(positions: Int32Array, rows: Int32Array, capacity: number): number {
  return positions.reduce((keys, position, row) => {
    const own = position - (rows[3 * row + 2] ?? 0);
    if (own >= 0 && own < capacity) return keys + position + 1;
    throw new RangeError(`Expected a position in the row's own cache to be in 0..${capacity - 1}, got ${own}`);
  }, 0);
}

/** A packed prompt takes whole panels. */
function checkPlaces(start: number, length: number, places: number): void {
  checkRange('a packed prompt', start, Math.ceil(length / panelKeys) * panelKeys, places);
}

function checkRange(what: string, start: number, length: number, most: number): void {
  if (length === 0 || (length > 0 && start >= 0 && start + length <= most)) return;
  throw new RangeError(`Expected ${what} within 0..${most}, got ${start}..${start + length}`);
}

/** Long runs read the prefix once for many rows, but every thread should get some. Results don't depend on the split. */
function rowsPerRun(batch: number, group: number, kvHeads: number, threads: number): number {
  const share = Math.ceil((batch * kvHeads) / (2 * threads));
  return Math.max(1, Math.min(Math.floor(blockRows / group), Math.max(Math.ceil(4 / group), share)));
}

/** Runs of neighbouring rows with one prefix: (first row, rows) each. */
function runsOf(rows: Int32Array, most: number): number[] {
  const runs: number[] = [];
  const batch = rows.length / 3;
  let first = 0;
  for (let row = 1; row <= batch; row++) {
    const same = rows[row * 3 + 1] === rows[first * 3 + 1] && rows[row * 3 + 2] === rows[first * 3 + 2];
    if (row < batch && same && row - first < most) continue;
    runs.push(first, row - first);
    first = row;
  }
  return runs;
}
