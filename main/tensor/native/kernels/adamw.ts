/**
 * Kernels that train: AdamW and accumulation, which change the tensors they are given, and the sum of squares for
 * clipping. TensorFlow's own ResourceApplyAdam computes 1 − β2 in float32, off by 1.3e-5 of it at β2 = 0.999: these
 * are PyTorch's operations one by one, and a tensor's old memory goes as soon as its new one is there.
 */
import type { Tensor, TensorInfo } from '@tensorflow/tfjs-core';
import { type AdamWAttrs, LEAVE_UNCHANGED } from '../../ops/adamw.ts';
import { FLOAT, type Handle, maths, type Ops, typeAttr } from '../ops.ts';
import type { KernelInputs, Register } from './kernel.ts';

export function registerAdamW(register: Register): void {
  register<AdamWAttrs>('AdamW', (ops, inputs, attrs) => {
    adamW(ops, inputs, attrs);
    return ops.scalar(0);
  });
  register<{ scale: number }>('AddInPlace', (ops, inputs, { scale }) => {
    const { add, mul } = maths(ops);
    const x = inputs.handle('x');
    const more = scale === 1 ? x : mul(x, ops.scalar(scale));
    replace(ops, inputs.info('target'), add(inputs.handle('target'), more));
    return ops.scalar(0);
  });
  register('SumSquares', (ops, inputs) => {
    // L2Loss is Σ x² / 2 in one pass.
    const half = ops.run('L2Loss', [inputs.handle('x')], [typeAttr(ops.backend, 'T', FLOAT)]);
    return maths(ops).mul(half, ops.scalar(2));
  });
}

/** The formulas stand in trainer/optim/optimizer.ts. */
function adamW(ops: Ops, inputs: KernelInputs, attrs: AdamWAttrs): void {
  const [gradScale = LEAVE_UNCHANGED] = ops.backend.readSync(
    (inputs.info('gradScale') as Tensor).dataId,
  ) as Float32Array;
  if (gradScale === LEAVE_UNCHANGED) return;
  const { lr, beta1, beta2, eps, weightDecay, step } = attrs;
  const { add, div, mul, sqrt, square, sub } = maths(ops);
  const times = (x: Handle, factor: number): Handle => (factor === 1 ? x : mul(x, ops.scalar(factor)));
  const grad = times(inputs.handle('grad'), gradScale);
  const before = inputs.handle('m');
  const m = add(before, times(sub(grad, before), 1 - beta1));
  const v = add(times(inputs.handle('v'), beta2), times(square(grad), 1 - beta2));
  const denominator = add(div(sqrt(v), ops.scalar(Math.sqrt(1 - beta2 ** step))), ops.scalar(eps));
  const decayed = times(inputs.handle('param'), 1 - lr * weightDecay);
  const param = sub(decayed, times(div(m, denominator), lr / (1 - beta1 ** step)));
  replace(ops, inputs.info('param'), param);
  replace(ops, inputs.info('m'), m);
  replace(ops, inputs.info('v'), v);
}

/** Gives a tensor another memory; the old one is freed. */
function replace({ backend, keep }: Ops, { dataId }: TensorInfo, handle: Handle): void {
  const data = backend.tensorMap.get(dataId);
  backend.binding.deleteTensor(data.id);
  data.id = keep(handle).id;
}
