/** The gated delta rule over packed sequences, and its gradient: a few programs for all of a layer's tokens, see delta-sweeps.ts. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import type { GatedDeltaShape } from '../../ops/gated-delta.ts';
import type { WebGpuBackend } from '../backend.ts';
import { groupsFor, type KernelCall, type Register } from '../kernel.ts';
import { finishGates, finishHeads } from './delta-finish.ts';
import { columnSweep, ENTRY, GATES, LINES, prepare, rowSweep } from './delta-sweeps.ts';

// N packed tokens, S sequences, H value heads, K and V widths of a head's keys and values.

export function registerDeltaRule(register: Register): void {
  register<GatedDeltaShape & { readonly states: number }>('GatedDelta', forward);
  register<GatedDeltaShape>('GatedDeltaGrad', gradient);
}

/** The sequences, those that continue none before those that continue one of them. */
interface Sequences {
  /** int32 [S, 6], see ENTRY. */
  readonly table: TensorInfo;
  readonly roots: number;
  readonly others: number;
  /** Rows of states that are kept. */
  readonly states: number;
  /** Whether they are all of the tokens. */
  readonly isWhole: boolean;
}

type Call = KernelCall<GatedDeltaShape>;

/** `keeps`: the state of every sequence, not only of those that others continue; `starts`: each has one to start from. */
function sequencesOf({ backend, input }: Call, tokens: number, keeps: boolean, starts: boolean): Sequences {
  const [trees, places] = [backend.values(input('trees')), backend.values(input('sequences'))];
  const place = (at: number): number[] => [...places.subarray(3 * at, 3 * at + 3)];
  const [roots, others]: [number[][], number[][]] = [[], []];
  for (let tree = 0; 2 * tree < trees.length; tree++) {
    const [first = 0, members = 0] = trees.subarray(2 * tree, 2 * tree + 2);
    const [start = 0, length = 0, number = 0] = place(first);
    const row = keeps ? number : members > 1 ? tree : -1;
    roots.push([start, length, row, starts ? number : -1, others.length, members - 1]);
    for (let member = first + 1; member < first + members; member++) {
      const [start = 0, length = 0, number = 0] = place(member);
      others.push([start, length, keeps ? number : -1, row, 0, 0]);
    }
  }
  const all = [...roots, ...others];
  const covered = all.reduce((sum, [start = 0, length = 0]) => {
    if (start < 0 || length < 0 || start + length > tokens)
      throw new RangeError(`Expected sequences within ${tokens} tokens, got ${start} to ${start + length}`);
    return sum + length;
  }, 0);
  return {
    table: backend.integers(Int32Array.from(all.flat()), [all.length, ENTRY]),
    roots: roots.length,
    others: others.length,
    states: keeps ? all.length : others.length > 0 ? roots.length : 0,
    isWhole: covered === tokens,
  };
}

/** Tensors of which programs write the tokens of all sequences: others are zeros. */
function outputs(backend: WebGpuBackend, shapes: readonly (readonly number[])[], isWhole: boolean): TensorInfo[] {
  return shapes.map((shape) => {
    const made = backend.output(shape);
    const [rows = 0, columns = 0] = shape;
    if (!isWhole) backend.gpu.clear(backend.buffer(made), 0, Math.max(4, rows * columns));
    return made;
  });
}

interface Prepared {
  readonly unit: TensorInfo;
  readonly gates: TensorInfo;
}

function prepared({ backend, input, attrs }: Call): Prepared {
  const { keyHeads, valueHeads, keyDim } = attrs;
  const [tokens = 0, width = 0] = input('mixed').shape;
  const [unit, gates] = [
    backend.output([tokens, 2 * keyHeads * keyDim]),
    backend.output([tokens, GATES * valueHeads]),
  ] as const;
  const read = ['mixed', 'a', 'b', 'timeBias', 'decay'].map((name) => backend.buffer(input(name)));
  const buffers = [...read, backend.buffer(unit), backend.buffer(gates)];
  const tiles = tokens * keyHeads;
  backend.gpu.run(prepare, buffers, [tiles, keyHeads, valueHeads, keyDim, width], tiles);
  return { unit, gates };
}

/** The state through all sequences, from the first token to the last. `out`: what is written of a token. */
function sweepForward(call: Call, sequences: Sequences, made: Prepared & Written, out: 'o' | 'x'): void {
  const { backend, input, attrs } = call;
  const { keyHeads, valueHeads, keyDim, valueDim } = attrs;
  const width = input('mixed').shape[1] ?? 0;
  const buffers = [made.unit, input('mixed'), made.gates, sequences.table, made.states, made.out];
  const code = columnSweep({ keyDim, back: false, out });
  const stride = out === 'x' ? 2 * valueDim : valueDim;
  const layout = [keyHeads, valueHeads, valueDim, width, 2 * keyHeads * keyDim, stride, 0, 0];
  for (const [first, count] of inTurn(sequences))
    backend.gpu.run(
      code,
      buffers.map((tensor) => backend.buffer(tensor)),
      [first, count, ...layout],
      count * valueHeads * Math.ceil(valueDim / LINES),
    );
}

interface Written {
  readonly states: TensorInfo;
  readonly out: TensorInfo;
}

/** Those that continue others come after them. */
function inTurn({ roots, others }: Sequences): readonly (readonly [first: number, count: number])[] {
  return [
    [0, roots],
    [roots, others],
  ];
}

const stateWidth = ({ valueHeads, keyDim, valueDim }: GatedDeltaShape): number => valueHeads * keyDim * valueDim;

function forward(call: KernelCall<GatedDeltaShape & { readonly states: number }>): TensorInfo[] {
  const { backend, attrs, input, has } = call;
  const [tokens = 0] = input('mixed').shape;
  const keeps = attrs.states > 0;
  const sequences = sequencesOf(call, tokens, keeps, has('initial'));
  const [out] = outputs(backend, [[tokens, attrs.valueHeads * attrs.valueDim]], sequences.isWhole) as [TensorInfo];
  const size = stateWidth(attrs);
  const states = backend.output([Math.max(1, sequences.states), size]);
  if (has('initial')) {
    const initial = input('initial');
    const rows = initial.shape[0] ?? 0;
    backend.gpu.copy(backend.buffer(initial), 0, backend.buffer(states), 0, rows * size);
  }
  const made = prepared(call);
  sweepForward(call, sequences, { ...made, states, out }, 'o');
  backend.release(made.unit, made.gates, sequences.table);
  if (keeps) return [out, states];
  backend.release(states);
  return [out, backend.output([1, 1])];
}

function gradient(call: Call): TensorInfo[] {
  const { backend, input, attrs } = call;
  const { keyHeads, valueHeads, keyDim, valueDim } = attrs;
  const [tokens = 0, width = 0] = input('mixed').shape;
  const sequences = sequencesOf(call, tokens, false, false);
  const { roots, others, table } = sequences;
  const gatesShape = [tokens, valueHeads];
  const [dMixed, dA, dB, dDecay] = outputs(
    backend,
    [[tokens, width], gatesShape, gatesShape, gatesShape],
    sequences.isWhole,
  ) as [TensorInfo, TensorInfo, TensorInfo, TensorInfo];
  const buffer = (tensor: TensorInfo) => backend.buffer(tensor);
  const { unit, gates } = prepared(call);
  const dy = input('dy');
  const rows = backend.output([tokens, 2 * valueHeads * valueDim]);
  const states = backend.output([Math.max(1, sequences.states), stateWidth(attrs)]);
  sweepForward(call, sequences, { unit, gates, states, out: rows }, 'x');

  const dStates = backend.output([Math.max(1, others), stateWidth(attrs)]);
  const columns = columnSweep({ keyDim, back: true, out: 'du' });
  const layout = [keyHeads, valueHeads, valueDim, valueHeads * valueDim, 0, 2 * valueDim, valueDim];
  const columnGroups = valueHeads * Math.ceil(valueDim / LINES);
  for (const [first, count] of inTurn(sequences).toReversed()) {
    const read = [unit, dy, gates, table, dStates, rows].map(buffer);
    backend.gpu.run(columns, read, [first, count, ...layout, first === 0 ? 0 : 1], count * columnGroups);
  }
  const grads = backend.output([tokens, 2 * valueHeads * keyDim]);
  for (const back of [true, false]) {
    const read = [rows, dy, unit, gates, table, back ? dStates : states, grads].map(buffer);
    const count = roots + others;
    const groups = count * valueHeads * Math.ceil(keyDim / LINES);
    backend.gpu.run(rowSweep({ valueDim, back }), read, [0, count, keyHeads, valueHeads, keyDim], groups);
  }
  const terms = backend.output(gatesShape);
  const heads = [input('mixed'), unit, gates, rows, grads, dMixed, terms, dB].map(buffer);
  const tiles = tokens * keyHeads;
  backend.gpu.run(finishHeads, heads, [tiles, keyHeads, valueHeads, keyDim, valueDim], tiles);
  const totals = backend.output([Math.max(1, others), valueHeads]);
  for (const [first, count] of inTurn(sequences).toReversed()) {
    const read = [terms, gates, table, totals, dA, dDecay].map(buffer);
    const parameters = [first, count, valueHeads, first === 0 ? 0 : 1];
    backend.gpu.run(finishGates, read, parameters, groupsFor(count * valueHeads, LINES));
  }
  backend.release(unit, gates, table, rows, states, dStates, grads, terms, totals);
  return [dMixed, dA, dB, dDecay];
}
