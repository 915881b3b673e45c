import { describe, expect, it } from 'vitest';
import { type KernelBinding, runKernel } from '../../../main/tensor/native/cpu/run-kernel.ts';

/** An addon from before products could round what they multiply. */
const calls: unknown[] = [];
const older = {
  kernelArguments: { product: { tensors: ['a', 'b', 'out'], numbers: ['alpha'] } },
  runKernel: (...call: unknown[]) => calls.push(call),
} as unknown as KernelBinding;

const tensors = { a: { id: 1 }, b: { id: 2 }, out: { id: 3 } };

describe('runKernel', () => {
  it('leaves out a flag that is off and newer than the addon', () => {
    runKernel(older, 'product', tensors, { alpha: 2, bfloat16: false });
    expect(calls).toEqual([['product', [1, 2, 3], [2]]]);
  });

  it('says that the addon must be set up again where such a flag is on', () => {
    expect(() => runKernel(older, 'product', tensors, { alpha: 2, bfloat16: true })).toThrow(
      expect.objectContaining({ code: 'KERNEL_MISMATCH', remedy: expect.stringContaining('set it up again') }),
    );
  });
});
