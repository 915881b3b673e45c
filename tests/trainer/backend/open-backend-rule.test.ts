import { MathBackendCPU } from '@tensorflow/tfjs-backend-cpu';
import * as tf from '@tensorflow/tfjs-core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { buildKernels } from '../../../main/tensor/kernels/build.ts';
import type { NativeOpening } from '../../../main/tensor/native/open.ts';

const opened = vi.hoisted(() => ({ opening: {} as Partial<NativeOpening>, closed: 0 }));
vi.mock('../../../main/tensor/native/open.ts', () => ({
  openNativeBackend: async () => opened.opening,
  closeNativeBackend: () => {
    opened.closed += 1;
  },
}));
// The opening is a double: its backend has to be one that tfjs knows.
tf.registerBackend('tensorflow', () => new MathBackendCPU());
const { openBackend } = await import('../../../main/trainer/backend/open-backend.ts');
const kernelsFile = buildKernels();

/** What a working native backend says of itself. */
function nativeHas(what: { readonly gpu: boolean; readonly kernels: boolean }): void {
  opened.opening = { ok: true, tensorflow: '2.21.0', ...what };
}

describe('the backend that openBackend takes where native works', () => {
  afterEach(() => {
    opened.closed = 0;
  });

  for (const { gpu, kernels, device } of [
    { gpu: false, kernels: true, device: 'on 2 threads of the CPU' },
    { gpu: true, kernels: false, device: 'on GPU 0, TF32 where the GPU has it' },
    { gpu: true, kernels: true, device: 'on GPU 0, TF32 where the GPU has it' },
  ]) {
    it(`is native with gpu: ${gpu}, kernels of ours: ${kernels}`, async () => {
      nativeHas({ gpu, kernels });
      const backend = await openBackend({ backend: 'auto', threads: 2, kernelsFile });
      expect(backend).toMatchObject({ name: 'native', why: `TensorFlow 2.21.0 ${device} (its self-check passed)` });
      await backend.close();
      expect(opened.closed).toBe(1);
    });
  }

  it('is wasm on a CPU whose addon lacks our kernels, with a remedy', async () => {
    nativeHas({ gpu: false, kernels: false });
    const backend = await openBackend({ backend: 'auto', threads: 2, kernelsFile });
    expect(opened.closed).toBe(1);
    expect(backend).toMatchObject({ name: 'wasm', why: expect.stringContaining('setting it up again (Settings') });
    await backend.close();
  });

  it('is native there if requested', async () => {
    nativeHas({ gpu: false, kernels: false });
    const backend = await openBackend({ backend: 'native', threads: 2, kernelsFile });
    expect(backend).toMatchObject({ name: 'native', why: expect.stringContaining('(as requested)') });
    await backend.close();
  });
});
