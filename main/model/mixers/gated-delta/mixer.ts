/**
 * Qwen3.5's gated delta rule (Yang et al. 2024, arXiv 2412.06464): keys, queries and values through a short convolution,
 * a state that decays and is corrected by each token, a gated norm. N tokens.
 */
import * as tf from '@tensorflow/tfjs-core';
import { causalConvolution, hasConvolutionStep } from '../../../tensor/ops/causal-convolution.ts';
import type { DecodeLinear } from '../../../tensor/ops/decode-kernels.ts';
import type { DecodeList } from '../../../tensor/ops/decode-list.ts';
import type { DecodeMixer } from '../../../tensor/ops/decode-step.ts';
import { gatedDeltaRule, hasGatedDeltaStep } from '../../../tensor/ops/gated-delta.ts';
import { rmsNorm } from '../../../tensor/ops/rms-norm.ts';
import { swiglu } from '../../../tensor/ops/swiglu.ts';
import type { ModelConfig } from '../../config.ts';
import { type Linear, linear } from '../../linear.ts';
import type { Parameter } from '../../parameter.ts';
import type { GatedDeltaLayers } from '../../traits.ts';
import type { Mixer, MixerKind, Pass, Step } from '../mixer.ts';

interface Weights {
  readonly qkv: Linear;
  readonly z: Linear;
  readonly b: Linear;
  readonly a: Linear;
  readonly out: Linear;
  readonly convolution: Parameter;
  readonly decay: Parameter<tf.Tensor1D>;
  readonly timeBias: Parameter<tf.Tensor1D>;
  readonly norm: Parameter<tf.Tensor1D>;
}

type Five<T> = [T, T, T, T, T];

function sizes({ recurrent }: ModelConfig): GatedDeltaLayers & { readonly keys: number; readonly values: number } {
  if (recurrent?.mixer !== 'gated-delta') throw new Error('Expected a model of gated delta rules');
  const { keyHeads, keyDim, valueHeads, valueDim } = recurrent;
  return { ...recurrent, keys: keyHeads * keyDim, values: valueHeads * valueDim };
}

function run(weights: Weights, x: tf.Tensor2D, { config, layer, adapter, sequences }: Pass): tf.Tensor2D {
  const { values, keyDim, keyHeads, valueHeads, valueDim } = sizes(config);
  const [n] = x.shape;
  const convolution = causalConvolution(weights.convolution.value, null, 'silu');
  const mixed = sequences.recur(layer, 0, convolution, [linear(x, weights.qkv, adapter)]);
  const decay = { timeBias: weights.timeBias.value, decay: weights.decay.value };
  const rule = gatedDeltaRule({ keyHeads, valueHeads, keyDim, valueDim }, decay);
  const gates = [linear(x, weights.a, adapter), linear(x, weights.b, adapter)];
  const read = sequences.recur(layer, 1, rule, [mixed, ...gates]);
  const normed = rmsNorm(tf.reshape(read, [n * valueHeads, valueDim]), weights.norm.value, config.rmsNormEps);
  const gate = linear(x, weights.z, adapter);
  return linear(swiglu(gate, tf.reshape(normed, [n, values])), weights.out, adapter);
}

function step(weights: Weights, { config, linear, state }: Step): DecodeMixer | null {
  const { keys, values, taps, ...shape } = sizes(config);
  if (!hasConvolutionStep(taps) || !hasGatedDeltaStep(shape)) return null;
  const names = ['qkv', 'z', 'a', 'b', 'out'] as const;
  const [qkv, z, a, b, out] = names.map((name) => linear(weights[name])) as Five<DecodeLinear>;
  const [convolution, decay] = [weights.convolution.value, weights.decay.value];
  const [timeBias, norm] = [weights.timeBias.value, weights.norm.value];
  return {
    linears: [qkv, z, a, b, out],
    plain: null,
    record: <Buffer>(list: DecodeList<Buffer>, h: Buffer, change: Buffer): void => {
      const [raw, mixed] = [list.room(2 * keys + values), list.room(2 * keys + values)];
      const gates = { a: list.room(shape.valueHeads), b: list.room(shape.valueHeads) };
      const [gate, read] = [list.room(values), list.room(values)];
      list.linears(h, [qkv, raw], [z, gate], [a, gates.a], [b, gates.b]);
      list.convolution({ weight: convolution, bias: null, silu: true }, state(0), raw, mixed);
      list.deltaRule(shape, { timeBias, decay }, state(1), { mixed, ...gates, out: read });
      list.headNorms([read, values, norm]);
      list.swiglu(gate, read, values);
      list.linears(gate, [out, change]);
    },
  };
}

export const gatedDelta: MixerKind<Mixer> = {
  shapes(config) {
    const { hiddenSize: d } = config;
    const { keys, values, valueHeads, valueDim, taps } = sizes(config);
    return [
      ['linear_attn.dt_bias', [valueHeads]],
      ['linear_attn.A_log', [valueHeads]],
      ['linear_attn.conv1d.weight', [2 * keys + values, 1, taps]],
      ['linear_attn.norm.weight', [valueDim]],
      ['linear_attn.out_proj.weight', [d, values]],
      ['linear_attn.in_proj_qkv.weight', [2 * keys + values, d]],
      ['linear_attn.in_proj_z.weight', [values, d]],
      ['linear_attn.in_proj_b.weight', [valueHeads, d]],
      ['linear_attn.in_proj_a.weight', [valueHeads, d]],
    ];
  },
  assemble(_config, parts) {
    const linears = ['out_proj', 'in_proj_qkv', 'in_proj_z', 'in_proj_b', 'in_proj_a'].map((name) =>
      parts.linear(`linear_attn.${name}`),
    );
    const [out, qkv, z, b, a] = linears as Five<Linear>;
    const weights = {
      ...{ out, qkv, z, b, a },
      convolution: parts.tensor('linear_attn.conv1d.weight'),
      decay: parts.vector('linear_attn.A_log'),
      timeBias: parts.vector('linear_attn.dt_bias'),
      norm: parts.vector('linear_attn.norm.weight'),
    };
    const others = [weights.timeBias, weights.decay, weights.convolution, weights.norm];
    return { linears, others, run: (x, pass) => run(weights, x, pass), step: (given) => step(weights, given) };
  },
  tokenFloats: () => 0,
  stateWidths(config) {
    const { keys, values, taps, keyDim } = sizes(config);
    return [(taps - 1) * (2 * keys + values), keyDim * values];
  },
  activationFloats(config) {
    const { keys, values, valueHeads } = sizes(config);
    // What the convolution and the rule read, what the norm and the gate do, and the output's.
    return 2 * (2 * keys + values) + 4 * values + 2 * valueHeads;
  },
  workingFloats(config) {
    const { keys, values, valueHeads, keyHeads, taps, keyDim } = sizes(config);
    const repeated = (keys * valueHeads) / keyHeads;
    return (
      (4 + 2 * taps) * (2 * keys + values) + 12 * repeated + 8 * values + 8 * valueHeads * 32 + (keyDim * values) / 16
    );
  },
};
