import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import { faultError } from '../../../main/tensor/webgpu/faults.ts';
import { closeWebGpuBackend, openWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import { program } from '../../../main/tensor/webgpu/program.ts';
import type { TrainConfig } from '../../../main/trainer/config/config.ts';
import { describeFailure } from '../../../main/trainer/memory/failure.ts';
import { opened, openGpuForTest } from '../../tensor/webgpu/open.ts';
import { openTiny, tinyRun } from './tiny-run.ts';

const { model } = await openTiny();
const first = await openGpuForTest();
if (first !== null) await closeWebGpuBackend(first);
const config: Partial<TrainConfig> = { max_steps: 1, beta: 0.1 };

describe.runIf(first !== null)('a run whose GPU fails', () => {
  it('ends where the budget has no room in the smallest parts, and keeps to one that has', async () => {
    const backend = opened(await openGpuForTest({ budgetBytes: 16 * 2 ** 10 }));
    const error = await tinyRun({ model, config }).catch((thrown: unknown) => thrown);
    expect(describeFailure(error)).toMatchObject({ code: 'OUT_OF_MEMORY', remedy: expect.any(String) });
    expect(tf.sum(tf.fill([100], 1)).dataSync()[0]).toBe(100);
    await closeWebGpuBackend(backend);
    const budgetBytes = 512 * 2 ** 20;
    const wider = opened(await openGpuForTest({ budgetBytes }));
    expect((await tinyRun({ model, config })).steps).toHaveLength(1);
    expect(wider.gpu.counts.peakBytes).toBeLessThanOrEqual(budgetBytes);
    await closeWebGpuBackend(wider);
  });

  it('says which GPUs there are where none has the name that was asked for', async () => {
    await expect(openWebGpuBackend({ adapter: 'no such GPU' })).rejects.toMatchObject({
      code: 'GPU_NOT_OPENED',
      message: expect.stringMatching(/none has "no such GPU" in its name, there are: \S/),
      remedy: expect.stringContaining('BRAID_GPU'),
    });
  });

  it('opens the GPU that has the name in it, in capitals or not', async () => {
    const plain = opened(await openGpuForTest());
    const [name = ''] = plain.gpu.adapters();
    const { device } = plain.gpu.adapter;
    await closeWebGpuBackend(plain);
    const part = name.slice(2, name.indexOf(' (')).toUpperCase();
    const named = await openWebGpuBackend({ adapter: part });
    expect(named.gpu.adapter.device).toBe(device);
    await closeWebGpuBackend(named);
  });

  it('names a shader that does not compile, and computes on', async () => {
    const backend = opened(await openGpuForTest());
    const broken = program({
      name: 'Broken',
      parameters: ['n'],
      buffers: { out: 'rw f32' },
      workgroup: 64,
      main: 'oops',
    });
    const out = backend.gpu.take(256);
    backend.gpu.run(broken, [out], [1], 1);
    expect(() => backend.gpu.finish()).toThrow(
      expect.objectContaining({ code: 'GPU_FAILED', message: expect.stringContaining('Broken') }),
    );
    expect(tf.sum(tf.fill([100], 1)).dataSync()[0]).toBe(100);
    await closeWebGpuBackend(backend);
  });
});

describe('faultError', () => {
  it.each([
    ...(['no-package', 'no-adapter', 'other-name', 'no-device', 'too-small', 'no-clock'] as const),
    ...(['lost', 'slow', 'out-of-memory', 'invalid'] as const),
  ])('says what to do about "%s"', (fault) => {
    const { remedy, message } = faultError(fault, 'the driver said so');
    expect(message).toContain('the driver said so');
    expect(remedy?.length).toBeGreaterThan(20);
  });
});
