/** Kernels that train, in the memory of what they change. */
import type { AdamWAttrs } from '../../ops/adamw.ts';
import { expectShape, sizeOf } from './kernel.ts';
import type { RegisterCpu } from './register.ts';

export function registerAdamW(register: RegisterCpu): void {
  register<AdamWAttrs>('AdamW', (call) => {
    const { lr, beta1, beta2, eps, weightDecay, step, gradScale } = call.attrs;
    const changed = ['param', 'm', 'v'].map((name) => call.changed(name));
    const grad = call.input('grad');
    for (const target of changed) expectShape('param, m and v', target, grad.shape);
    call.run('adamw', [...changed, grad], [sizeOf(grad), lr, beta1, beta2, eps, weightDecay, step, gradScale]);
    return call.output([]);
  });
  register<{ scale: number }>('AddInPlace', (call) => {
    const [target, x] = [call.changed('target'), call.input('x')];
    expectShape('x', x, target.shape);
    call.run('addInPlace', [target, x], [sizeOf(x), call.attrs.scale]);
    return call.output([]);
  });
  register('SumSquares', (call) => {
    const x = call.input('x');
    const sum = call.output([]);
    call.run('sumSquares', [x, sum], [sizeOf(x)]);
    return sum;
  });
}
