import { type Handle, maths, type Ops } from '../ops.ts';
import type { Register } from './kernel.ts';

interface Attrs {
  readonly eps: number;
}

/** 1 / sqrt(mean(x²) + eps) of each row, [N, 1]. */
function inverseRms(ops: Ops, x: Handle, eps: number): Handle {
  const { add, mean, rsqrt, square } = maths(ops);
  return rsqrt(add(mean(square(x), 1), ops.scalar(eps)));
}

/** RmsNorm and its two gradients; the formulas are those of ops/rms-norm.ts. */
export function registerRmsNorm(register: Register): void {
  register<Attrs>('RmsNorm', (ops, inputs, { eps }) => {
    const { mul } = maths(ops);
    const x = inputs.handle('x');
    return mul(mul(x, inverseRms(ops, x, eps)), inputs.handle('weight'));
  });
  register<Attrs>('RmsNormGradX', (ops, inputs, { eps }) => {
    const { mean, mul, sub } = maths(ops);
    const x = inputs.handle('x');
    const inverse = inverseRms(ops, x, eps);
    const g = mul(inputs.handle('dy'), inputs.handle('weight'));
    const normed = mul(x, inverse);
    const projected = mean(mul(g, normed), 1); // [N, 1]
    return mul(sub(g, mul(normed, projected)), inverse);
  });
  register<Attrs>('RmsNormGradWeight', (ops, inputs, { eps }) => {
    const { mul, sum } = maths(ops);
    const x = inputs.handle('x');
    return sum(mul(inputs.handle('dy'), mul(x, inverseRms(ops, x, eps))), 0, false);
  });
}
