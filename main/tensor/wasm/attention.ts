/** Causal attention over a packed batch of segments with shared prefixes, and its gradient. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import {
  ATTENTION,
  ATTENTION_DELTA,
  ATTENTION_GRAD_GROUP,
  ATTENTION_GRAD_KEYS,
  ATTENTION_GRAD_ROWS,
} from '../kernels/ids.ts';
import type { AttentionShape } from '../ops/attention.ts';
import { forwardPlan, type GradPlan, gradPlan } from './attention-plan.ts';
import { type FusedCall, matrixShape, registerFused, withScratch, withTables } from './fused.ts';
import type { WasmRuntime } from './runtime.ts';

/** Multiplications below which waking the workers costs more than it saves. */
const serialWork = 1 << 18;

/** Query heads that share a key/value head at most, and what a head's numbers are. */
const MOST_GROUP = 64;
const HEAD_STEP = 8;
const MOST_HEAD = 512;

/** Sizes that the attention kernels share. */
export interface HeadShape {
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** Query heads that share one key/value head. */
  readonly group: number;
  readonly scale: number;
}

/** Registers 'PackedAttention' and 'PackedAttentionGrad'. */
export function registerAttention(runtime: WasmRuntime): void {
  registerFused(runtime, 'PackedAttention', attention);
  registerFused(runtime, 'PackedAttentionGrad', attentionGrad);
}

const isGroup = (group: number): boolean => Number.isInteger(group) && group <= MOST_GROUP;
const isHead = (headDim: number): boolean => headDim % HEAD_STEP === 0 && headDim <= MOST_HEAD;

/** Whether the attention kernels take these heads. */
export function fitsHeads({ numHeads, numKvHeads, headDim }: AttentionShape): boolean {
  return isGroup(numHeads / numKvHeads) && isHead(headDim);
}

/** Reads and checks the attributes that every attention kernel has. */
export function headShape(call: FusedCall): HeadShape {
  const [heads, kvHeads, headDim] = ['numHeads', 'numKvHeads', 'headDim'].map((name) => call.number(name));
  if (heads === undefined || kvHeads === undefined || headDim === undefined)
    throw new RangeError('Expected head sizes');
  const group = heads / kvHeads;
  if (!isGroup(group)) {
    throw new RangeError(`Expected "numHeads" to be 1 to ${MOST_GROUP} times "numKvHeads" (${kvHeads}), got ${heads}`);
  }
  if (!isHead(headDim)) {
    throw new RangeError(`Expected "headDim" to be a multiple of ${HEAD_STEP} up to ${MOST_HEAD}, got ${headDim}`);
  }
  return { heads, kvHeads, headDim, group, scale: call.number('scale') };
}

function checkInputs(call: FusedCall, { heads, kvHeads, headDim }: HeadShape): number {
  const [tokens] = matrixShape(call, 'q');
  call.expectShape('q', [tokens, heads * headDim]);
  call.expectShape('k', [tokens, kvHeads * headDim]);
  call.expectShape('v', [tokens, kvHeads * headDim]);
  call.expectShape('segments', [call.shape('segments')[0] ?? 0, 4]);
  return tokens;
}

function segmentTable({ heap }: WasmRuntime, call: FusedCall): Int32Array {
  return heap.i32(call.pointer('segments'), (call.shape('segments')[0] ?? 0) * 4);
}

function attention(runtime: WasmRuntime, call: FusedCall): TensorInfo[] {
  const { heap, pool } = runtime;
  const shape = headShape(call);
  const tokens = checkInputs(call, shape);
  const plan = forwardPlan(segmentTable(runtime, call), tokens, shape.group);
  const out = heap.output([tokens, shape.heads * shape.headDim], 'float32');
  const lse = heap.output([tokens, shape.heads], 'float32');
  const pointers = [call.pointer('q'), call.pointer('k'), call.pointer('v'), heap.pointer(out), heap.pointer(lse)];
  const sizes = [shape.heads, shape.kvHeads, shape.headDim, shape.scale];
  const tiles = (plan.length / 5) * shape.kvHeads;
  withTables(heap, [plan], (tables) => pool.run(ATTENTION, [...pointers, ...tables, ...sizes], tiles));
  return [out, lse];
}

function attentionGrad(runtime: WasmRuntime, call: FusedCall): TensorInfo[] {
  const { heap, pool } = runtime;
  const shape = headShape(call);
  const tokens = checkInputs(call, shape);
  call.expectShape('dy', call.shape('q'));
  call.expectShape('out', call.shape('q'));
  call.expectShape('lse', [tokens, shape.heads]);
  const plan = gradPlan(segmentTable(runtime, call), tokens, shape.group);
  const dq = heap.output(call.shape('q'), 'float32');
  const dk = heap.output(call.shape('k'), 'float32');
  const dv = heap.output(call.shape('v'), 'float32');
  const rows = tokens * shape.heads;
  withScratch(heap, rows * 4, (delta) => {
    const perTile = Math.ceil(16384 / shape.headDim);
    const deltaArgs = [call.pointer('dy'), call.pointer('out'), delta, rows, shape.headDim, perTile];
    pool.run(ATTENTION_DELTA, deltaArgs, Math.ceil(rows / perTile));
    const inputs = [call.pointer('q'), call.pointer('k'), call.pointer('v'), call.pointer('dy'), call.pointer('lse')];
    const outputs = [dq, dk, dv].map((info) => heap.pointer(info));
    const tables = [plan.keys, plan.rows, plan.pairsByKey, plan.pairsByRow, plan.groups];
    const sizes = [shape.heads, shape.kvHeads, shape.headDim, shape.scale];
    withTables(heap, tables, (addresses) => {
      runGrad(runtime, plan, shape, [...inputs, delta, ...outputs, ...addresses, ...sizes]);
    });
  });
  return [dq, dk, dv];
}

/** Chooses how the work is divided; the result is bit-identical either way. */
function runGrad({ pool }: WasmRuntime, plan: GradPlan, shape: HeadShape, args: readonly number[]): void {
  const { kvHeads } = shape;
  const parallel = plan.totalCost * shape.heads * shape.headDim > serialWork;
  // One pass does five matrix products; two separate ones do seven, but leave no thread idle.
  const share = (plan.totalCost * kvHeads) / pool.threads;
  if (!parallel || 5 * Math.max(share, plan.largestGroupCost) <= 7 * share) {
    pool.run(ATTENTION_GRAD_GROUP, args, (plan.groups.length / 4) * kvHeads, parallel);
    return;
  }
  pool.run(ATTENTION_GRAD_KEYS, args, (plan.keys.length / 4) * kvHeads);
  pool.run(ATTENTION_GRAD_ROWS, args, (plan.rows.length / 4) * kvHeads);
}
