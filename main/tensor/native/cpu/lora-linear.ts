/** A linear layer under a low-rank adapter, and its gradients: products that add to each other in place. */
import type { LoraAttrs } from '../../ops/lora-linear.ts';
import type { Handle } from '../ops.ts';
import { type Call, expectShape, matrixSize } from './kernel.ts';
import { multiply } from './matmul.ts';
import type { RegisterCpu } from './register.ts';

// N tokens, I in, O out, r rank.

const plain = { transposeA: false, transposeB: false } as const;
const turnedB = { transposeA: false, transposeB: true } as const;
const turnedA = { transposeA: true, transposeB: false } as const;

export function registerLoraLinear(register: RegisterCpu): void {
  register<LoraAttrs>('LoraLinear', (call) => {
    const { attrs } = call;
    const [x, weight] = [call.input('x'), call.weight('weight')];
    const [n, width] = matrixSize('x', x);
    const [out] = matrixSize('weight', weight);
    expectShape('weight', weight, [out, width]);
    const { a, b, rank } = adapterOf(call, width, out);
    const y = call.output([n, out]);
    const low = call.scratch([n, rank]);
    multiply(call, x, a, low, { ...turnedB, alpha: attrs.scaling });
    multiply(call, x, weight, y, { ...turnedB, more: [low, b] });
    return y;
  });
  register<LoraAttrs>('LoraLinearGradX', (call) => {
    const { attrs } = call;
    const [dy, weight] = [call.input('dy'), call.weight('weight')];
    const [n, out] = matrixSize('dy', dy);
    const [, width] = matrixSize('weight', weight);
    expectShape('weight', weight, [out, width]);
    const { a, b, rank } = adapterOf(call, width, out);
    const dx = call.output([n, width]);
    const low = call.scratch([n, rank]);
    multiply(call, dy, b, low, { ...plain, alpha: attrs.scaling });
    multiply(call, dy, weight, dx, plain);
    multiply(call, low, a, dx, { ...plain, accumulate: true });
    return dx;
  });
  register<LoraAttrs>('LoraLinearGradAdapter', (call) => {
    const { attrs } = call;
    const [dy, x] = [call.input('dy'), call.input('x')];
    const [n, out] = matrixSize('dy', dy);
    const [, width] = matrixSize('x', x);
    expectShape('x', x, [n, width]);
    const { a, b, rank } = adapterOf(call, width, out);
    const [da, db, low] = [call.output([rank, width]), call.output([out, rank]), call.scratch([n, rank])];
    multiply(call, dy, b, low, { ...plain, alpha: attrs.scaling });
    multiply(call, low, x, da, turnedA);
    multiply(call, x, a, low, { ...turnedB, alpha: attrs.scaling });
    multiply(call, dy, low, db, turnedA);
    return [da, db];
  });
}

function adapterOf(call: Call<unknown>, width: number, out: number): { a: Handle; b: Handle; rank: number } {
  const [a, b] = [call.input('a'), call.input('b')];
  const [rank] = matrixSize('a', a);
  expectShape('a', a, [rank, width]);
  expectShape('b', b, [out, rank]);
  return { a, b, rank };
}
