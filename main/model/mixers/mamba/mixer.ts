/**
 * Mamba-2 (Dao and Gu 2024, arXiv 2405.21060) as Granite 4's hybrids have it: one projection for gate, inputs and steps, a
 * short convolution, a state space, a norm of each group of heads over what the gate lets through. N tokens, D width.
 */
import * as tf from '@tensorflow/tfjs-core';
import { causalConvolution } from '../../../tensor/ops/causal-convolution.ts';
import { rmsNorm } from '../../../tensor/ops/rms-norm.ts';
import { stateSpace } from '../../../tensor/ops/state-space.ts';
import { swiglu } from '../../../tensor/ops/swiglu.ts';
import type { ModelConfig } from '../../config.ts';
import type { MambaLayers } from '../../granite4.ts';
import { type Linear, linear } from '../../linear.ts';
import type { Parameter } from '../../parameter.ts';
import type { Mixer, MixerKind, Pass } from '../mixer.ts';

interface Weights {
  readonly first: Linear;
  readonly last: Linear;
  readonly convolution: Parameter;
  readonly bias: Parameter<tf.Tensor1D> | null;
  readonly timeBias: Parameter<tf.Tensor1D>;
  readonly decay: Parameter<tf.Tensor1D>;
  readonly skip: Parameter<tf.Tensor1D>;
  readonly norm: Parameter<tf.Tensor1D>;
}

interface Sizes extends MambaLayers {
  /** All heads together. */
  readonly inner: number;
  /** What the convolution goes over. */
  readonly mixed: number;
  /** What the projection gives. */
  readonly all: number;
}

function sizes({ recurrent }: ModelConfig): Sizes {
  if (recurrent?.mixer !== 'mamba') throw new Error('Expected a model of Mamba layers');
  const { heads, headDim, groups, stateDim } = recurrent;
  const inner = heads * headDim;
  const mixed = inner + 2 * groups * stateDim;
  return { ...recurrent, inner, mixed, all: inner + mixed + heads };
}

function run(weights: Weights, x: tf.Tensor2D, { config, layer, adapter, sequences }: Pass): tf.Tensor2D {
  const { inner, mixed, heads, ...shape } = sizes(config);
  const [gate, raw, dt] = tf.split(linear(x, weights.first, adapter), [inner, mixed, heads], 1) as [
    tf.Tensor2D,
    tf.Tensor2D,
    tf.Tensor2D,
  ];
  const convolution = causalConvolution(weights.convolution.value, weights.bias?.value ?? null, 'silu');
  const all = sequences.recur(layer, 0, convolution, [raw]);
  const [timeBias, decay, skip] = [weights.timeBias.value, weights.decay.value, weights.skip.value];
  const read = sequences.recur(layer, 1, stateSpace({ heads, ...shape }, { timeBias, decay, skip }), [all, dt]);
  return linear(normGroups(swiglu(gate, read), weights, config), weights.last, adapter);
}

/** Each group of heads by itself. x [N, inner] → same */
function normGroups(x: tf.Tensor2D, { norm }: Weights, config: ModelConfig): tf.Tensor2D {
  const { groups, inner } = sizes(config);
  if (groups === 1) return rmsNorm(x, norm.value, config.rmsNormEps);
  const [n] = x.shape;
  const width = inner / groups;
  const normed = rmsNorm(tf.reshape(x, [n * groups, width]), tf.ones([width]), config.rmsNormEps);
  return tf.mul(tf.reshape(normed, [n, inner]), norm.value);
}

export const mamba: MixerKind<Mixer> = {
  shapes(config) {
    const { hiddenSize: d } = config;
    const { heads, inner, mixed, all, taps, convolutionBias, projectionBias } = sizes(config);
    const vectors = ['mamba.dt_bias', 'mamba.A_log', 'mamba.D'].map((name) => [name, [heads]] as const);
    return [
      ...vectors,
      ['mamba.conv1d.weight', [mixed, 1, taps]],
      ...(convolutionBias ? [['mamba.conv1d.bias', [mixed]] as const] : []),
      ['mamba.in_proj.weight', [all, d]],
      ...(projectionBias ? [['mamba.in_proj.bias', [all]] as const] : []),
      ['mamba.norm.weight', [inner]],
      ['mamba.out_proj.weight', [d, inner]],
      ...(projectionBias ? [['mamba.out_proj.bias', [d]] as const] : []),
    ];
  },
  assemble(config, parts) {
    const weights = {
      ...{ first: parts.linear('mamba.in_proj'), last: parts.linear('mamba.out_proj') },
      convolution: parts.tensor('mamba.conv1d.weight'),
      bias: sizes(config).convolutionBias ? parts.vector('mamba.conv1d.bias') : null,
      timeBias: parts.vector('mamba.dt_bias'),
      decay: parts.vector('mamba.A_log'),
      skip: parts.vector('mamba.D'),
      norm: parts.vector('mamba.norm.weight'),
    };
    const { first, last, bias, convolution, timeBias, decay, skip, norm } = weights;
    const others = [timeBias, decay, skip, convolution, ...(bias === null ? [] : [bias]), norm];
    return { linears: [first, last], others, run: (x, pass) => run(weights, x, pass), step: () => null };
  },
  tokenFloats: () => 0,
  stateWidths(config) {
    const { inner, mixed, taps, stateDim } = sizes(config);
    return [(taps - 1) * mixed, stateDim * inner];
  },
  activationFloats(config) {
    const { inner, mixed, all, heads } = sizes(config);
    // The projection and its three parts, what the convolution and the state space give, the gate's and the norm's.
    return 2 * all + mixed + 3 * inner + heads;
  },
  // Measured: numbers of each head's width, and states of each chunk, of which plain ops have several at a time.
  passingFloats(config) {
    const { inner, stateDim } = sizes(config);
    return (50 + stateDim / 3) * inner;
  },
  workingFloats(config) {
    const { inner, mixed, all, taps, stateDim } = sizes(config);
    return 2 * all + (4 + 2 * taps) * mixed + (16 + stateDim / 6) * inner;
  },
};
