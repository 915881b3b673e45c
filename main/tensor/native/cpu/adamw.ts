/** Kernels that train, in the memory of what they change. */
import { type AdamWAttrs, LEAVE_UNCHANGED } from '../../ops/adamw.ts';
import type { RegisterCpu } from './kernel.ts';

export function registerAdamW(register: RegisterCpu): void {
  register<AdamWAttrs>('AdamW', (call) => {
    const { lr, beta1, beta2, eps, weightDecay, step } = call.attrs;
    const [gradScale = LEAVE_UNCHANGED] = call.host('gradScale');
    if (gradScale === LEAVE_UNCHANGED) return call.output([]);
    const [param, m, v] = [call.changed('param'), call.changed('m'), call.changed('v')];
    const grad = call.input('grad');
    call.run('adamw', { param, m, v, grad }, { lr, beta1, beta2, eps, weightDecay, step, gradScale });
    return call.output([]);
  });
  register<{ scale: number }>('AddInPlace', (call) => {
    const { scale } = call.attrs;
    call.run('addInPlace', { target: call.changed('target'), x: call.input('x') }, { scale });
    return call.output([]);
  });
  register('SumSquares', (call) => {
    const out = call.output([]);
    call.run('sumSquares', { x: call.input('x'), out });
    return out;
  });
}
