import type { TensorInfo } from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import { type KernelWork, sizesOf, workOf } from '../../main/tensor/op-costs.ts';

const tensor = (...shape: number[]): TensorInfo => ({ dataId: {}, shape, dtype: 'float32' });
const call = (
  name: string,
  inputs: Record<string, TensorInfo>,
  outputs: TensorInfo[],
  attrs: Record<string, unknown> = {},
  tables: Record<string, number[]> = {},
): KernelWork => ({
  name,
  inputs,
  outputs,
  attrs: attrs as KernelWork['attrs'],
  values: (input) => tables[input] ?? [],
});

describe('workOf', () => {
  it('counts products, whichever way they are transposed', () => {
    const out = [tensor(1, 5, 3)];
    const plain = call('BatchMatMul', { a: tensor(1, 5, 7), b: tensor(1, 7, 3) }, out);
    const both = { transposeA: true, transposeB: true };
    const turned = call('BatchMatMul', { a: tensor(1, 7, 5), b: tensor(1, 3, 7) }, out, both);
    for (const product of [plain, turned]) {
      expect(workOf(product)).toEqual({ flop: 2 * 5 * 7 * 3, bytes: 4 * (35 + 21 + 15) });
      expect(sizesOf(product)).toBe('7 → 3');
    }
  });

  it('counts a layer under an adapter as its three products', () => {
    const [n, from, to, rank] = [10, 8, 6, 2];
    const given = { weight: tensor(to, from), a: tensor(rank, from), b: tensor(to, rank) };
    const forward = call('LoraLinear', { x: tensor(n, from), ...given }, [tensor(n, to)]);
    expect(workOf(forward).flop).toBe(2 * n * (from * to + rank * (from + to)));
    const { weight, a, b } = given;
    const [dy, dLow] = [tensor(n, to), tensor(n, rank)];
    const gradients = [
      call('LoraLinearGradLow', { dy, b }, []),
      call('LoraLinearGradX', { dy, dLow, weight, a }, []),
      call('LoraLinearGradAdapter', { x: tensor(n, from), dy, dLow, a }, []),
    ];
    expect(gradients.map((gradient) => workOf(gradient).flop)).toEqual(
      [rank * to, (to + rank) * from, rank * (2 * from + to)].map((terms) => 2 * n * terms),
    );
    expect(gradients.map(sizesOf)).toEqual(['6 → 2', '8 → 6', '8 → 6']);
  });

  it('counts the pairs that packed attention sees', () => {
    const attrs = { numHeads: 2, headDim: 4 };
    // A prompt of 3 tokens, and a completion of 2 that sees it: 6 + 2 * 3 + 3 pairs.
    const tables = { segments: [0, 3, 0, 0, 3, 2, 0, 3] };
    const forward = call('PackedAttention', {}, [], attrs, tables);
    expect(workOf(forward).flop).toBe(4 * 2 * 4 * 15);
    expect(workOf({ ...forward, name: 'PackedAttentionGrad' }).flop).toBe(10 * 2 * 4 * 15);
  });

  it('reads a prompt that two rows share once', () => {
    const attrs = { numHeads: 4, numKvHeads: 2, headDim: 8 };
    const inputs = { q: tensor(3, 32), rows: { ...tensor(3, 3), dtype: 'int32' as const } };
    // Slot, start and length: rows 0 and 1 share a prompt of 5 tokens, row 2 has one of 7.
    const rows = [0, 0, 5, 1, 0, 5, 2, 5, 7];
    const decode = call('DecodeAttention', inputs, [tensor(3, 32)], attrs, { rows, positions: [6, 6, 8] });
    const pairs = 5 + 5 + 7 + 3 * 2;
    const cached = 5 + 7 + 3 * 2;
    expect(workOf(decode)).toEqual({
      flop: 4 * 4 * 8 * pairs,
      bytes: 2 * cached * 2 * 8 * 4 + 9 * 4 + 2 * 3 * 32 * 4,
    });
  });

  it('counts the logits again where log-probabilities are differentiated', () => {
    const inputs = { hidden: tensor(5, 8), weight: tensor(100, 8) };
    expect(workOf(call('SelectiveLogSoftmax', inputs, [])).flop).toBe(2 * 5 * 8 * 100);
    const grad = call('SelectiveLogSoftmaxGrad', inputs, [], { needHidden: true, needWeight: false });
    expect(workOf(grad).flop).toBe(2 * 2 * 5 * 8 * 100);
    const kept = { ...grad, inputs: { ...inputs, logits: tensor(5, 100) } };
    expect(workOf(kept).flop).toBe(2 * 5 * 8 * 100);
    const keptByNative = { ...grad, inputs: { ...inputs, lse: tensor(5, 100) } };
    expect(workOf(keptByNative).flop).toBe(2 * 5 * 8 * 100);
    expect(workOf({ ...grad, inputs: { ...inputs, lse: tensor(5) } }).flop).toBe(2 * 2 * 5 * 8 * 100);
  });

  it('counts the products of the delta rule with its states, and the taps of a convolution', () => {
    const attrs = { keyHeads: 1, valueHeads: 2, keyDim: 8, valueDim: 4 };
    const rule = call('GatedDelta', { mixed: tensor(5, 24) }, [tensor(5, 8)], attrs);
    expect(workOf(rule).flop).toBe(2 * 3 * 5 * 2 * 8 * 4);
    expect(workOf({ ...rule, name: 'GatedDeltaGrad' }).flop).toBe(2 * 8 * 5 * 2 * 8 * 4);
    const convolution = call('CausalConvolution', { x: tensor(5, 24), weight: tensor(24, 1, 4) }, [tensor(5, 24)]);
    expect(workOf(convolution).flop).toBe(2 * 5 * 24 * 4);
  });

  it('costs nothing to give a tensor another shape', () => {
    expect(workOf(call('Reshape', { x: tensor(4, 4) }, [tensor(16)]))).toEqual({ flop: 0, bytes: 0 });
  });
});
