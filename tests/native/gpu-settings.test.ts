import { describe, expect, it } from 'vitest';
import { gpuNote, gpuToUse, isDeterministic, prepareGpu, usedGpu, usesTf32 } from '../../main/native/gpu-settings.ts';

const GPUS = [{ name: 'NVIDIA A40' }, { name: 'NVIDIA GeForce RTX 4090' }];

/** The environment that TensorFlow gets. */
function prepared(env: Record<string, string>, gpus = GPUS): Record<string, string | undefined> {
  const own: Record<string, string | undefined> = { ...env };
  prepareGpu(own, () => gpus);
  return own;
}

describe('prepareGpu', () => {
  it('shows TensorFlow one GPU: the first, or the one that BRAID_GPU says', () => {
    expect(prepared({})).toMatchObject({ CUDA_VISIBLE_DEVICES: '0', CUDA_DEVICE_ORDER: 'PCI_BUS_ID' });
    expect(prepared({ BRAID_GPU: ' 1 ' }).CUDA_VISIBLE_DEVICES).toBe('1');
    expect(prepared({ BRAID_GPU: 'rtx 4090' }).CUDA_VISIBLE_DEVICES).toBe('1');
    // Another maker's, for webgpu: TensorFlow is to leave NVIDIA's alone.
    expect(prepared({ BRAID_GPU: 'Radeon' }).CUDA_VISIBLE_DEVICES).toBe('-1');
  });

  it('leaves what a person has set, and asks nobody then', () => {
    const env = { CUDA_VISIBLE_DEVICES: '1,0', CUDA_DEVICE_ORDER: 'FASTEST_FIRST', NVIDIA_TF32_OVERRIDE: '1' };
    const own: Record<string, string | undefined> = { ...env, BRAID_GPU: '1' };
    prepareGpu(own, () => {
      throw new Error('asked');
    });
    expect(own).toMatchObject(env);
  });

  it('hides nothing where nvidia-smi lists nothing', () => {
    expect(prepared({}, []).CUDA_VISIBLE_DEVICES).toBeUndefined();
  });

  it('rejects a number that no GPU has, with those that there are', () => {
    expect(() => prepared({ BRAID_GPU: '2' })).toThrow(
      'Expected BRAID_GPU to be one of 0 (NVIDIA A40), 1 (NVIDIA GeForce RTX 4090), got 2',
    );
  });

  it('computes in float32 unless TF32 is asked for', () => {
    expect(usesTf32(prepared({}))).toBe(false);
    expect(usesTf32(prepared({ BRAID_TF32: '1' }))).toBe(true);
  });
});

describe('gpuToUse', () => {
  const [first, second] = GPUS;

  it('is the GPU that TensorFlow will see, by the same variables', () => {
    expect(gpuToUse(GPUS, {})).toBe(first);
    expect(gpuToUse(GPUS, { BRAID_GPU: '1' })).toBe(second);
    expect(gpuToUse(GPUS, { CUDA_VISIBLE_DEVICES: '1' })).toBe(second);
    expect(gpuToUse(GPUS, { CUDA_VISIBLE_DEVICES: 'GPU-8f2a' })).toBe(first);
  });

  it('is none where TensorFlow is to see none, or none was found', () => {
    for (const CUDA_VISIBLE_DEVICES of ['-1', '', '7']) expect(gpuToUse(GPUS, { CUDA_VISIBLE_DEVICES })).toBeNull();
    expect(gpuToUse(GPUS, { BRAID_GPU: 'Radeon' })).toBeNull();
    expect(gpuToUse(GPUS, { BRAID_GPU: '2' })).toBeNull();
    expect(gpuToUse([], {})).toBeNull();
  });

  it("leaves this process's own environment alone", () => {
    const env = { BRAID_GPU: '1' };
    gpuToUse(GPUS, env);
    expect(env).toEqual({ BRAID_GPU: '1' });
  });
});

describe('usedGpu', () => {
  it('is the last that CUDA shows, as the addon takes it', () => {
    expect(['1', '2,0', '0, 3', '', 'GPU-8f2a'].map((list) => usedGpu({ CUDA_VISIBLE_DEVICES: list }))).toEqual([
      ...[1, 0, 3, 0, 0],
    ]);
    expect(usedGpu({})).toBe(0);
  });
});

describe('gpuNote', () => {
  it('records GPU, precision of products and determinism', () => {
    expect(gpuNote(prepared({ BRAID_GPU: '1' }))).toBe('GPU 1, products in float32');
    const env = prepared({ BRAID_TF32: '1', TF_DETERMINISTIC_OPS: 'true' });
    expect(isDeterministic(env)).toBe(true);
    expect(gpuNote(env)).toBe('GPU 0, TF32 where the GPU has it, deterministic ops');
  });
});
