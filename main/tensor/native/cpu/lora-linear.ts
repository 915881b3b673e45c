/** A linear layer under a low-rank adapter, and its gradients: the adapter's product is added within the layer's own. */
import type { LoraAttrs } from '../../ops/lora-linear.ts';
import type { RegisterCpu } from './kernel.ts';
import { matrixSize } from './kernel.ts';
import { multiply } from './matmul.ts';

// N tokens, I in, O out, r rank.

const plain = { transposeA: false, transposeB: false } as const;
const transposeB = { transposeA: false, transposeB: true } as const;
const transposeA = { transposeA: true, transposeB: false } as const;

export function registerLoraLinear(register: RegisterCpu): void {
  register<LoraAttrs>('LoraLinear', (call) => {
    const { attrs } = call;
    const [x, weight] = [call.input('x'), call.weight('weight')];
    const [n] = matrixSize('x', x);
    const [out] = matrixSize('weight', weight);
    const [a, b] = [call.input('a'), call.input('b')];
    const [rank] = matrixSize('a', a);
    const y = call.output([n, out]);
    const low = call.scratch([n, rank]);
    multiply(call, x, a, low, { ...transposeB, alpha: attrs.scaling });
    multiply(call, x, weight, y, { ...transposeB, ofWeights: true, low: [low, b] });
    return y;
  });
  register<LoraAttrs>('LoraLinearGradLow', (call) => {
    const [dy, b] = [call.input('dy'), call.input('b')];
    const [n] = matrixSize('dy', dy);
    const [, rank] = matrixSize('b', b);
    const dLow = call.output([n, rank]);
    multiply(call, dy, b, dLow, { ...plain, alpha: call.attrs.scaling });
    return dLow;
  });
  register('LoraLinearGradX', (call) => {
    const [dy, weight] = [call.input('dy'), call.weight('weight')];
    const [n] = matrixSize('dy', dy);
    const [, width] = matrixSize('weight', weight);
    const dx = call.output([n, width]);
    multiply(call, dy, weight, dx, { ...plain, ofWeights: true, low: [call.input('dLow'), call.input('a')] });
    return dx;
  });
  register<LoraAttrs>('LoraLinearGradAdapter', (call) => {
    const [dy, x, a] = [call.input('dy'), call.input('x'), call.input('a')];
    const [n, out] = matrixSize('dy', dy);
    const [rank, width] = matrixSize('a', a);
    const [da, db, low] = [call.output([rank, width]), call.output([out, rank]), call.scratch([n, rank])];
    multiply(call, call.input('dLow'), x, da, transposeA);
    multiply(call, x, a, low, { ...transposeB, alpha: call.attrs.scaling });
    multiply(call, dy, low, db, transposeA);
    return [da, db];
  });
}
