/** Attention of one new token a row against a shared prefix and the row's own cache. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { DECODE_ATTENTION } from '../kernels/ids.ts';
import { headShape } from './attention.ts';
import { type FusedCall, matrixShape, registerFused, withTables } from './fused.ts';
import type { WasmRuntime } from './runtime.ts';

/** Rows (tokens times query heads of a group) that a tile holds, as in assembly/blocks.ts. */
const blockRows = 64;
/** Multiplications below which waking the workers costs more than it saves. */
const serialWork = 1 << 16;

/** Registers 'DecodeAttention'. It writes `k` and `v` into `ownK` and `ownV` in place. */
export function registerDecodeAttention(runtime: WasmRuntime): void {
  registerFused(runtime, 'DecodeAttention', decodeAttention);
}

function decodeAttention(runtime: WasmRuntime, call: FusedCall): TensorInfo {
  const { heap, pool } = runtime;
  const { heads, kvHeads, headDim, group, scale } = headShape(call);
  const [batch] = matrixShape(call, 'q');
  const [prefixTokens] = matrixShape(call, 'prefixK');
  const [slots = 0, capacity = 0] = call.shape('ownK');
  const step = call.number('step');
  const width = kvHeads * headDim;
  call.expectShape('q', [batch, heads * headDim]);
  for (const name of ['k', 'v']) call.expectShape(name, [batch, width]);
  for (const name of ['prefixK', 'prefixV']) call.expectShape(name, [prefixTokens, width]);
  for (const name of ['ownK', 'ownV']) call.expectShape(name, [slots, capacity, width]);
  call.expectShape('rows', [batch, 3]);
  if (!(step >= 0 && step < capacity)) throw new RangeError(`Expected "step" to be in 0..${capacity - 1}, got ${step}`);
  const rows = heap.i32(call.pointer('rows'), batch * 3);
  const keys = checkRows(rows, slots, prefixTokens) + batch * (step + 1);
  const out = heap.output([batch, heads * headDim], 'float32');
  const plan = runsOf(rows, rowsPerRun(batch, group, kvHeads, pool.threads));
  const inputs = ['q', 'k', 'v', 'prefixK', 'prefixV', 'ownK', 'ownV', 'rows'].map((name) => call.pointer(name));
  withTables(heap, [plan], (tables) => {
    const args = [...inputs, heap.pointer(out), ...tables, heads, kvHeads, headDim, scale, step, capacity];
    pool.run(DECODE_ATTENTION, args, (plan.length / 2) * kvHeads, keys * heads * headDim > serialWork);
  });
  return out;
}

/** Checks slots and prefixes; returns the sum of the prefix lengths. */
function checkRows(rows: Int32Array, slots: number, prefixTokens: number): number {
  let keys = 0;
  for (let at = 0; at < rows.length; at += 3) {
    const [slot = 0, start = 0, length = 0] = rows.subarray(at, at + 3);
    if (slot < 0 || slot >= slots) throw new RangeError(`Expected a slot in 0..${slots - 1}, got ${slot}`);
    if (length < 0 || (length > 0 && (start < 0 || start + length > prefixTokens))) {
      throw new RangeError(`Expected a prefix within 0..${prefixTokens}, got ${start}..${start + length}`);
    }
    keys += length;
  }
  return keys;
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
