/** The gated delta rule over packed sequences, its gradient, and one token of it. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { DELTA_CHUNK, DELTA_RULE, DELTA_RULE_GRAD, DELTA_STEP } from '../kernels/ids.ts';
import type { GatedDeltaShape } from '../ops/gated-delta.ts';
import { type FusedCall, registerFused, withScratch } from './fused.ts';
import type { WasmRuntime } from './runtime.ts';

/** Registers 'GatedDelta', 'GatedDeltaGrad' and 'GatedDeltaStep'. */
export function registerGatedDelta(runtime: WasmRuntime): void {
  registerFused(runtime, 'GatedDelta', gatedDelta);
  registerFused(runtime, 'GatedDeltaGrad', gatedDeltaGrad);
  registerFused(runtime, 'GatedDeltaStep', gatedDeltaStep);
}

interface Sizes extends GatedDeltaShape {
  readonly tokens: number;
  readonly stateWidth: number;
}

function sizesOf(call: FusedCall): Sizes {
  const names = ['keyHeads', 'valueHeads', 'keyDim', 'valueDim'] as const;
  const [keyHeads, valueHeads, keyDim, valueDim] = names.map((name) => call.number(name)) as [
    number,
    number,
    number,
    number,
  ];
  const [tokens = 0] = call.shape('mixed');
  call.expectShape('mixed', [tokens, 2 * keyHeads * keyDim + valueHeads * valueDim]);
  for (const name of ['a', 'b']) call.expectShape(name, [tokens, valueHeads]);
  for (const name of ['timeBias', 'decay']) call.expectShape(name, [valueHeads]);
  return { tokens, keyHeads, valueHeads, keyDim, valueDim, stateWidth: valueHeads * keyDim * valueDim };
}

/** The first parameters of the kernels over packed tokens, between which each has two of its own. */
function firstArgs(call: FusedCall, sizes: Sizes, [fifth, sixth]: readonly [number, number]): number[] {
  const pointers = ['mixed', 'a', 'b', 'timeBias', 'decay'].map((name) => call.pointer(name));
  return [...pointers, fifth, sixth, sizes.keyHeads, sizes.valueHeads, sizes.keyDim, sizes.valueDim];
}

/** Lengths of the sequences of each tree. */
function treesOf({ heap }: WasmRuntime, call: FusedCall, tokens: number): number[][] {
  const [count = 0] = call.shape('trees');
  const [sequences = 0] = call.shape('sequences');
  const trees = heap.i32(call.pointer('trees'), 2 * count);
  const places = heap.i32(call.pointer('sequences'), 3 * sequences);
  return Array.from({ length: count }, (_, tree) => {
    const [first = 0, members = 0] = trees.subarray(2 * tree, 2 * tree + 2);
    return Array.from({ length: members }, (_, member) => {
      const [start = 0, length = 0] = places.subarray(3 * (first + member), 3 * (first + member) + 2);
      if (start < 0 || length < 0 || start + length > tokens)
        throw new RangeError(`Expected sequences within ${tokens} tokens, got ${start} to ${start + length}`);
      return length;
    });
  });
}

/** Tensors of which kernels write the tokens of all sequences: others are zeros. */
function outputs({ heap }: WasmRuntime, shapes: readonly (readonly number[])[], isWhole: boolean): TensorInfo[] {
  return shapes.map((shape) => {
    const made = heap.output(shape, 'float32');
    const [rows = 0, columns = 0] = shape;
    if (!isWhole) heap.f32(heap.pointer(made), rows * columns).fill(0);
    return made;
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

function gatedDelta(runtime: WasmRuntime, call: FusedCall): TensorInfo[] {
  const { heap, pool } = runtime;
  const sizes = sizesOf(call);
  const { tokens, valueHeads, valueDim, stateWidth } = sizes;
  const trees = treesOf(runtime, call, tokens);
  const isWhole = sum(trees.flat()) === tokens;
  const states = call.number('states');
  const [out] = outputs(runtime, [[tokens, valueHeads * valueDim]], isWhole) as [TensorInfo];
  const last = heap.output(states > 0 ? [states, stateWidth] : [1, 1], 'float32');
  if (call.has('initial')) call.expectShape('initial', [trees.flat().length, stateWidth]);
  const initial = call.has('initial') ? call.pointer('initial') : 0;
  const tables = [call.pointer('sequences'), call.pointer('trees')] as const;
  const own = [initial, heap.pointer(out), states > 0 ? heap.pointer(last) : 0];
  pool.run(DELTA_RULE, [...firstArgs(call, sizes, tables), ...own], trees.length * valueHeads);
  return [out, last];
}

function gatedDeltaGrad(runtime: WasmRuntime, call: FusedCall): TensorInfo[] {
  const { heap, pool } = runtime;
  const sizes = sizesOf(call);
  const { tokens, keyHeads, valueHeads, keyDim, valueDim } = sizes;
  call.expectShape('dy', [tokens, valueHeads * valueDim]);
  const trees = treesOf(runtime, call, tokens);
  const isWhole = sum(trees.flat()) === tokens;
  const gates = [tokens, valueHeads];
  const made = outputs(runtime, [call.shape('mixed'), gates, gates, gates], isWhole);
  // Of each tree the first sequence's chunks, its last state, and the longest other sequence's chunks.
  const chunks = (length: number): number => Math.ceil(length / DELTA_CHUNK);
  const roomChunks = Math.max(
    ...trees.map(([root = 0, ...others]) => chunks(root) + 1 + Math.max(0, ...others.map(chunks))),
  );
  const chunkBytes = (keyDim + DELTA_CHUNK) * (Math.ceil(valueDim / 8) * 32 + 64);
  const tiles = trees.length * keyHeads;
  withScratch(heap, tiles * roomChunks * chunkBytes, (room) => {
    const tables = [call.pointer('sequences'), call.pointer('trees')] as const;
    const own = [call.pointer('dy'), ...made.map((info) => heap.pointer(info)), room, roomChunks];
    pool.run(DELTA_RULE_GRAD, [...firstArgs(call, sizes, tables), ...own], tiles);
  });
  return made;
}

/** Changes the states in place. */
function gatedDeltaStep(runtime: WasmRuntime, call: FusedCall): TensorInfo {
  const { heap } = runtime;
  const sizes = sizesOf(call);
  const { tokens: rows, valueHeads, valueDim, stateWidth } = sizes;
  call.expectShape('states', [rows, stateWidth]);
  const out = heap.output([rows, valueHeads * valueDim], 'float32');
  const [mixed, a, b] = [call.pointer('mixed'), call.pointer('a'), call.pointer('b')];
  const weights = { timeBias: call.pointer('timeBias'), decay: call.pointer('decay') };
  const step = { ...sizes, mixed, a, b, ...weights, states: call.pointer('states'), out: heap.pointer(out), rows };
  gatedDeltaStepAt(runtime, step);
  return out;
}

/** One token a row at the level of addresses. */
export interface GatedDeltaStepAt extends GatedDeltaShape {
  readonly mixed: number;
  readonly a: number;
  readonly b: number;
  readonly timeBias: number;
  readonly decay: number;
  /** A row's is changed in place. */
  readonly states: number;
  readonly out: number;
  readonly rows: number;
}

export function gatedDeltaStepAt({ pool }: WasmRuntime, step: GatedDeltaStepAt): void {
  const { mixed, a, b, timeBias, decay, states, keyHeads, valueHeads, keyDim, valueDim, out, rows } = step;
  const args = [mixed, a, b, timeBias, decay, states, 0, keyHeads, valueHeads, keyDim, valueDim, out];
  pool.run(DELTA_STEP, args, rows * valueHeads);
}
