/**
 * Qwen3.5's gated delta rule (Yang et al. 2024, arXiv 2412.06464) from what its projections give: heads of queries and keys
 * get the length 1, a gives the state's decay e^g, g = −e^decay · log(1 + e^(a + timeBias)), b the strength β = σ(b). A
 * backend's kernels compute it in one go ('GatedDelta', 'GatedDeltaGrad', 'GatedDeltaStep'); without them, plain ops do.
 *
 * N packed tokens, S sequences, B rows in flight, K and V widths of a head's keys and values.
 */
import * as tf from '@tensorflow/tfjs-core';
import { declareSavedOutputs } from '../backward.ts';
import { keepingInputs } from '../gradient-checkpoint.ts';
import { runOp, savedTensor } from '../portable.ts';
import { deltaRule } from './delta-rule.ts';
import { type Cell, type SequenceLayout, softplus } from './recurrence.ts';

export interface GatedDeltaShape {
  readonly keyHeads: number;
  /** A multiple of the key heads, each of which serves as many in turn. */
  readonly valueHeads: number;
  readonly keyDim: number;
  readonly valueDim: number;
}

/** What each head learns of its decay, [valueHeads]. */
export interface DecayWeights {
  readonly timeBias: tf.Tensor1D;
  readonly decay: tf.Tensor1D;
}

/** Kernels take heads of whole vectors up to this width. */
const WIDEST = 256;
const VECTOR = 4;

/** Whether the backend has a kernel for such heads. */
function hasKernel(name: string, { keyDim, valueDim }: GatedDeltaShape): boolean {
  const fits = [keyDim, valueDim].every((width) => width % VECTOR === 0 && width <= WIDEST);
  return fits && tf.getKernel(name, tf.getBackend()) !== undefined;
}

/** Whether the backend has a kernel for a step with such heads. */
export function hasGatedDeltaStep(shape: GatedDeltaShape): boolean {
  return hasKernel('GatedDeltaStep', shape);
}

/**
 * Inputs: mixed [N, 2·keyHeads·K + valueHeads·V] of queries, keys and values, a and b [N, valueHeads]. State:
 * valueHeads·K·V. Training starts from no state.
 */
export function gatedDeltaRule(shape: GatedDeltaShape, weights: DecayWeights): Cell {
  const [own, plain] = [fused(shape, weights), plainGatedDeltaRule(shape, weights)];
  return {
    packed: hasKernel('GatedDelta', shape) ? own.packed : plain.packed,
    step: hasGatedDeltaStep(shape) ? own.step : plain.step,
  };
}

/** The same of plain ops. */
export function plainGatedDeltaRule(shape: GatedDeltaShape, weights: DecayWeights): Cell {
  const { keyDim, valueDim, valueHeads: heads } = shape;
  const rule = deltaRule({ heads, keyDim, valueDim });
  return {
    packed: (inputs, layout, initial, keepsStates) => {
      const run = ([mixed, a, b, timeBias, decay]: readonly tf.Tensor[]) => {
        const own = { timeBias: timeBias as tf.Tensor1D, decay: decay as tf.Tensor1D };
        return rule.packed(plainInputs([mixed, a, b] as tf.Tensor2D[], shape, own), layout, initial);
      };
      const given = [...inputs, weights.timeBias, weights.decay];
      if (keepsStates !== false) return run(given);
      return { out: keepingInputs((all) => run(all).out, given), last: tf.zeros([1, 1]) };
    },
    step: (inputs, states) => rule.step(plainInputs(inputs, shape, weights), states),
  };
}

function fused(shape: GatedDeltaShape, weights: DecayWeights): Cell {
  return {
    packed: (inputs, layout, initial, keepsStates) => {
      const given = { ...named(inputs), ...weights, ...tablesOf(layout), ...(initial && { initial }) };
      const states = keepsStates === false ? 0 : layout.length;
      const [out, last] = runOp<tf.Tensor[]>('GatedDelta', given, { ...shape, states }) as [tf.Tensor2D, tf.Tensor2D];
      return { out, last };
    },
    step: (inputs, states) => {
      const given = { ...named(inputs), ...weights, states };
      return { out: runOp<tf.Tensor2D>('GatedDeltaStep', given, { ...shape }), state: states };
    },
  };
}

function named([mixed, a, b]: readonly tf.Tensor2D[]): Record<'mixed' | 'a' | 'b', tf.Tensor2D> {
  return { mixed, a, b } as Record<'mixed' | 'a' | 'b', tf.Tensor2D>;
}

/** Sequences and those that continue them as kernels read them. */
interface Trees {
  /** int32 [S, 3]: first token, tokens, number of the sequence; a tree's sequences in a line. */
  readonly sequences: tf.Tensor2D;
  /** int32 [trees, 2]: first sequence, sequences, of which all but the first continue the first. */
  readonly trees: tf.Tensor2D;
}

function tablesOf(layout: SequenceLayout): Trees {
  const members = new Map<number, number[]>();
  layout.forEach(({ prefix }, sequence) => {
    if (prefix === null) members.set(sequence, [sequence]);
  });
  layout.forEach(({ prefix }, sequence) => {
    if (prefix !== null) members.get(prefix)?.push(sequence);
  });
  const rows = [...members.values()].flat().map((sequence) => {
    const { start = 0, length = 0 } = layout[sequence] ?? {};
    return [start, length, sequence];
  });
  let first = 0;
  const trees = [...members.values()].map(({ length }) => {
    first += length;
    return [first - length, length];
  });
  return {
    sequences: tf.tensor2d(rows, [rows.length, 3], 'int32'),
    trees: tf.tensor2d(trees, [trees.length, 2], 'int32'),
  };
}

declareSavedOutputs('GatedDelta', [1]);

tf.registerGradient({
  kernelName: 'GatedDelta',
  inputsToSave: ['mixed', 'a', 'b', 'timeBias', 'decay', 'sequences', 'trees'],
  gradFunc: (dys, saved, attrs) => {
    const names = ['mixed', 'a', 'b', 'timeBias', 'decay', 'sequences', 'trees'];
    const inputs = Object.fromEntries(names.map((name, i) => [name, savedTensor(saved, i)]));
    const [dy] = dys as tf.Tensor[];
    const grads = runOp<tf.Tensor[]>('GatedDeltaGrad', { ...inputs, dy: dy as tf.Tensor }, attrs);
    const [mixed, a, b, decay] = grads as [tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor];
    return {
      mixed: () => mixed,
      a: () => a,
      b: () => b,
      timeBias: () => tf.sum(a, 0),
      decay: () => tf.sum(decay, 0),
    };
  },
});

/** What the plain delta rule takes: queries, keys and values by value head, the decay's logarithm and the strength. */
function plainInputs(
  [mixed, a, b]: readonly (tf.Tensor2D | undefined)[],
  { keyHeads, valueHeads, keyDim, valueDim }: GatedDeltaShape,
  { timeBias, decay }: DecayWeights,
): tf.Tensor2D[] {
  const keys = keyHeads * keyDim;
  const parts = tf.split(mixed as tf.Tensor2D, [keys, keys, valueHeads * valueDim], 1);
  const [q, k, v] = parts as [tf.Tensor2D, tf.Tensor2D, tf.Tensor2D];
  const times = valueHeads / keyHeads;
  const queries: tf.Tensor2D = tf.mul(unitHeads(q, keyDim, times), keyDim ** -0.5);
  const step = softplus(tf.add(a as tf.Tensor2D, timeBias));
  const logarithm: tf.Tensor2D = tf.neg(tf.mul(step, tf.exp(decay))); // [N, valueHeads]
  return [queries, unitHeads(k, keyDim, times), v, logarithm, tf.sigmoid(b as tf.Tensor2D)];
}

/** Each head as a vector of length 1, for each of the value heads that share it. [N, keyHeads·K] → [N, valueHeads·K] */
function unitHeads(x: tf.Tensor2D, width: number, times: number): tf.Tensor2D {
  const [n, all] = x.shape;
  const heads = tf.reshape(x, [(n * all) / width, width]);
  const length = tf.sqrt(tf.add(tf.sum(tf.mul(heads, heads), 1, true), 1e-6));
  const unit = tf.reshape(tf.div(heads, length), [(n * all) / width, 1, width]);
  return tf.reshape(times === 1 ? unit : tf.tile(unit, [1, times, 1]), [n, all * times]);
}
