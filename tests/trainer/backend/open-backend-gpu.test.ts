import { fileURLToPath } from 'node:url';
import { MathBackendCPU } from '@tensorflow/tfjs-backend-cpu';
import * as tf from '@tensorflow/tfjs-core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BraidError } from '../../../main/errors.ts';
import { buildKernels } from '../../../main/tensor/kernels/build.ts';
import type { TrialShapes } from '../../../main/trainer/backend/trial.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';

/** A GPU as auto finds it, and how long the trial takes on each backend. */
const world = vi.hoisted(() => ({
  software: false,
  seconds: {} as Record<string, number>,
  closed: 0,
  abandoned: 0,
  fault: '',
  opening: null as BraidError | null,
}));
const tried = vi.hoisted(() => [] as { backend: string; shapes: TrialShapes }[]);
vi.mock('../../../main/native/gpu-memory.ts', async (original) => ({
  ...(await original<typeof import('../../../main/native/gpu-memory.ts')>()),
  mayHaveGpu: () => true,
}));
vi.mock('../../../main/tensor/native/open.ts', () => ({
  openNativeBackend: async () => ({ ok: false, problem: { kind: 'missing', folder: '' } }),
  closeNativeBackend: () => undefined,
}));
vi.mock('../../../main/tensor/webgpu/open.ts', () => ({
  openWebGpuBackend: async () => {
    if (world.opening !== null) throw world.opening;
    const adapter = { vendor: 'nvidia', architecture: '', device: 'NVIDIA A40', description: '570' };
    await tf.setBackend('webgpu');
    return { gpu: { adapter: { ...adapter, software: world.software } } };
  },
  closeWebGpuBackend: async () => {
    world.closed += 1;
  },
  abandonWebGpuBackend: () => {
    world.abandoned += 1;
  },
}));
vi.mock('../../../main/trainer/backend/trial.ts', async (original) => ({
  ...(await original<typeof import('../../../main/trainer/backend/trial.ts')>()),
  secondsOfTrial: (shapes: TrialShapes) => {
    tried.push({ backend: tf.getBackend(), shapes });
    if (world.fault !== '' && tf.getBackend() === 'webgpu') throw new BraidError(world.fault, 'The driver is broken');
    return world.seconds[tf.getBackend()] ?? Number.NaN;
  },
}));
// The GPU is a double: tfjs has to know a backend of its name.
tf.registerBackend('webgpu', () => new MathBackendCPU());
const { openBackend } = await import('../../../main/trainer/backend/open-backend.ts');
const kernelsFile = buildKernels();
const modelFolder = fileURLToPath(new URL('../../../resources/models/tiny', import.meta.url));

describe('the backend that openBackend takes where WebGPU finds a GPU', () => {
  afterEach(() => {
    tried.length = 0;
    Object.assign(world, { closed: 0, abandoned: 0, fault: '', opening: null });
  });
  const open = () => openBackend({ backend: 'auto', threads: 1, kernelsFile, modelFolder });

  it("is the GPU where it is faster with the model's shapes", async () => {
    Object.assign(world, { software: false, seconds: { webgpu: 0.1, wasm: 0.4 } });
    const backend = await open();
    expect(backend).toMatchObject({ name: 'webgpu', why: expect.stringContaining('4.0 times as fast as wasm') });
    expect(tried.map(({ backend: name, shapes }) => [name, shapes.width])).toEqual([
      ['webgpu', 128],
      ['wasm', 128],
    ]);
    expect(tf.getBackend()).toBe('webgpu');
  });

  it("is tried with the run's own rows and precision", async () => {
    Object.assign(world, { software: false, seconds: { webgpu: 0.1, wasm: 0.4 } });
    const run = parseConfig({ model: modelFolder, use_peft: true, base_weights: 'int8', num_generations: 4 });
    const choice = { backend: 'auto', threads: 1, kernelsFile, modelFolder } as const;
    await openBackend({ ...choice, run: { ...run, per_device_train_batch_size: 20 } });
    expect(tried.map(({ shapes }) => [shapes.decodingRows, shapes.precision])).toEqual([
      [20, 'int8'],
      [20, 'int8'],
    ]);
  });

  it('is the processor where that is faster, and the GPU is given back', async () => {
    Object.assign(world, { software: false, seconds: { webgpu: 0.5, wasm: 0.4 } });
    const backend = await open();
    expect(backend).toMatchObject({ name: 'wasm', why: expect.stringContaining('faster than the GPU when tried') });
    expect([world.closed, tf.getBackend()]).toEqual([1, 'wasm']);
    await backend.close();
  });

  it('is never a software adapter, which is not even tried', async () => {
    Object.assign(world, { software: true, seconds: { webgpu: 0.1, wasm: 0.4 } });
    const backend = await open();
    expect(backend.name).toBe('wasm');
    expect([world.closed, tried.length]).toEqual([1, 0]);
    await backend.close();
  });

  it('is the processor where the GPU fails or takes too long, which is not waited for', async () => {
    Object.assign(world, { software: false, seconds: { wasm: 0.4 }, fault: 'GPU_SLOW' });
    const slow = await open();
    expect(slow).toMatchObject({ name: 'wasm', why: expect.stringContaining('its trial took longer than 2 s') });
    await slow.close();
    world.fault = 'GPU_FAILED';
    const broken = await open();
    expect(broken).toMatchObject({ name: 'wasm', why: expect.stringContaining('The driver is broken') });
    expect([world.closed, world.abandoned]).toEqual([0, 2]);
    await broken.close();
  });

  it.each([
    ['GPU_SLOW', "the GPU isn't used: opening it took longer than 10 s"],
    ['GPU_NOT_OPENED', "the GPU isn't used: The one that was asked for was not found"],
    ['NO_GPU', null],
  ])('is the processor where the GPU fails to open with %s, and says so if there is one', async (code, why) => {
    world.opening = new BraidError(code, 'The one that was asked for was not found');
    const backend = await open();
    expect(backend.name).toBe('wasm');
    expect(backend.why.split('; ').find((part) => part.startsWith('the GPU')) ?? null).toBe(why);
    await backend.close();
  });
});
