/** LFM2's gated short convolution: out(C · conv(B · x)), where B, C and x are projections. N tokens, D width. */
import * as tf from '@tensorflow/tfjs-core';
import { causalConvolution, hasConvolutionStep } from '../../../tensor/ops/causal-convolution.ts';
import type { DecodeList } from '../../../tensor/ops/decode-list.ts';
import type { ModelConfig } from '../../config.ts';
import { linear } from '../../linear.ts';
import type { Mixer, MixerKind } from '../mixer.ts';

function sizes({ recurrent }: ModelConfig): { readonly taps: number; readonly bias: boolean } {
  if (recurrent?.mixer !== 'short-convolution') throw new Error('Expected a model of short convolutions');
  return recurrent;
}

export const shortConvolution: MixerKind<Mixer> = {
  shapes(config) {
    const { hiddenSize: d } = config;
    const { taps, bias } = sizes(config);
    const biases = [
      ['conv.conv.bias', [d]],
      ['conv.in_proj.bias', [3 * d]],
      ['conv.out_proj.bias', [d]],
    ] as const;
    return [
      ['conv.conv.weight', [d, 1, taps]],
      ['conv.in_proj.weight', [3 * d, d]],
      ['conv.out_proj.weight', [d, d]],
      ...(bias ? biases : []),
    ];
  },
  assemble(config, parts) {
    const [first, last] = [parts.linear('conv.in_proj'), parts.linear('conv.out_proj')];
    const weight = parts.tensor('conv.conv.weight');
    const bias = sizes(config).bias ? parts.vector('conv.conv.bias') : null;
    return {
      linears: [first, last],
      others: [weight, ...(bias === null ? [] : [bias])],
      run(x, { layer, adapter, sequences }) {
        const [b, c, own] = tf.split(linear(x, first, adapter), 3, 1) as [tf.Tensor2D, tf.Tensor2D, tf.Tensor2D];
        const cell = causalConvolution(weight.value, bias?.value ?? null);
        return linear(tf.mul(c, sequences.recur(layer, 0, cell, [tf.mul(b, own)])), last, adapter);
      },
      step({ config, linear, state }) {
        const { hiddenSize: d } = config;
        if (!hasConvolutionStep(sizes(config).taps)) return null;
        const [input, output] = [linear(first), linear(last)];
        const weights = { weight: weight.value, bias: bias?.value ?? null, silu: false };
        return {
          linears: [input, output],
          plain: null,
          record: <Buffer>(list: DecodeList<Buffer>, h: Buffer, change: Buffer): void => {
            const [all, x, y] = [list.room(3 * d), list.room(d), list.room(d)];
            const part = (n: number) => ({ of: all, line: 3 * d, first: n * d });
            list.linears(h, [input, all]);
            list.columns('multiply', d, 1, part(0), part(2), x);
            list.convolution(weights, state(0), x, y);
            list.columns('multiply', d, 1, part(1), { of: y, line: d, first: 0 }, y);
            list.linears(y, [output, change]);
          },
        };
      },
    };
  },
  tokenFloats: () => 0,
  stateWidths: (config) => [(sizes(config).taps - 1) * config.hiddenSize],
  // The three parts, their products, and what lies between.
  activationFloats: ({ hiddenSize }) => 6 * hiddenSize,
  workingFloats: (config) => (8 + 2 * sizes(config).taps) * config.hiddenSize,
};
