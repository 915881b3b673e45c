import { maths } from '../ops.ts';
import type { Register } from './kernel.ts';

/** The gated unit; its gradient by gate is dy·up·(σ + gate·σ·(1−σ)). */
export function registerSwiglu(register: Register): void {
  register('SwiGlu', (ops, inputs) => {
    const { mul, sigmoid } = maths(ops);
    const gate = inputs.handle('gate');
    return mul(mul(gate, sigmoid(gate)), inputs.handle('up'));
  });
  register('SwiGluGrad', (ops, inputs) => {
    const { add, mul, sigmoid, sigmoidGrad } = maths(ops);
    const [dy, gate] = [inputs.handle('dy'), inputs.handle('gate')];
    const s = sigmoid(gate);
    const dSilu = mul(dy, inputs.handle('up'));
    return [add(mul(dSilu, s), sigmoidGrad(s, mul(dSilu, gate))), mul(mul(gate, s), dy)];
  });
}
