/** The report's comparison with the processor, where a GPU has matrix units: elsewhere suites compare the same and more. */
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, describe, expect, it } from 'vitest';
import { whyNoBfloat16 } from '../../../main/tensor/compute-dtype.ts';
import { buildKernels } from '../../../main/tensor/kernels/build.ts';
import { WEBGPU_BACKEND } from '../../../main/tensor/webgpu/backend.ts';
import { closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import { compareWithProcessor } from '../../../main/trainer/jobs/gpu-report/agreement.ts';
import { byUnits, opened, openGpuForTest } from '../../tensor/webgpu/open.ts';

const gpu = await openGpuForTest();
afterAll(async () => void (gpu !== null && (await closeWebGpuBackend(gpu))));

describe.runIf(gpu !== null && gpu.gpu.matrixUnit !== null)('compareWithProcessor', () => {
  it('finds a GPU within the bounds of what it computes in, on its units', async () => {
    const rounds = whyNoBfloat16() === null;
    const cases = [
      { precision: 'nf4', computed: 'float32' } as const,
      ...(rounds ? [{ precision: 'nf4', computed: 'bfloat16' } as const] : []),
    ];
    const before = byUnits(opened(gpu), 'Product');
    const found = await compareWithProcessor(buildKernels(), cases);
    expect(byUnits(opened(gpu), 'Product')).toBeGreaterThan(before);
    expect(found.filter(({ difference, bound }) => !(difference <= bound))).toEqual([]);
    expect(found).toHaveLength(rounds ? 7 : 4);
    expect(found.some(({ what }) => what.endsWith(', nf4 weights, computed in bfloat16'))).toBe(rounds);
    expect(tf.getBackend()).toBe(WEBGPU_BACKEND);
  });
});
