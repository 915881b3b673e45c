import { describe, expect, it } from 'vitest';
import { BraidError } from '../../../main/errors.ts';
import { noGpuCheck, webGpuCheck } from '../../../main/services/doctor/webgpu.ts';
import { adapterName, gpuOptions, unitsInWords } from '../../../main/tensor/webgpu/describe.ts';
import type { MatrixUnit } from '../../../main/tensor/webgpu/matrix-units.ts';
import type { AdapterFacts } from '../../../main/tensor/webgpu/protocol.ts';

const limits = {
  maxBufferSize: 2 ** 32,
  maxStorageBufferBindingSize: 2 ** 31,
  maxComputeWorkgroupStorageSize: 49_152,
  maxComputeInvocationsPerWorkgroup: 1024,
  maxComputeWorkgroupsPerDimension: 65_535,
  maxStorageBuffersPerShaderStage: 10,
};
const adapter: AdapterFacts = {
  vendor: 'nvidia',
  architecture: 'lovelace',
  device: 'NVIDIA GeForce RTX 4090',
  description: '570.86.16',
  software: false,
  matrixUnit: null,
  features: ['shader-f16', 'texture-compression-bc'],
  limits,
};
const result = {
  error: 1e-5,
  gflops: 31_400,
  gpu: {
    name: adapterName(adapter),
    adapter,
    units: 'none that the kernels can use',
    adapters: ['NVIDIA GeForce RTX 4090 (vulkan)'],
    bandwidth: 912,
    memory: { bytes: 23 * 2 ** 30, source: 'nvidia-smi' },
  },
};

describe('webGpuCheck', () => {
  it('says what the GPU is, how fast, how much memory it has, and how large a tensor may be', () => {
    expect(webGpuCheck(result)).toEqual({
      name: 'GPU by WebGPU',
      status: 'OK',
      detail:
        'NVIDIA GeForce RTX 4090 (570.86.16), 31400 GFLOPS, 912 GB/s, 23.0 GiB of memory (nvidia-smi), buffers up to 4.0 GiB, 2.0 GiB of one bound, workgroups of 1024 with 48 KiB, 65535 of them a dimension, 10 buffers a shader; has shader-f16, lacks subgroups subgroup-size-control chromium-experimental-subgroup-matrix timestamp-query; matrix units: none that the kernels can use',
      next: null,
    });
  });

  it('lists all adapters where there are several', () => {
    const gpu = { ...result.gpu, adapters: ['NVIDIA GeForce RTX 4090 (vulkan)', 'Intel UHD (vulkan)'] };
    expect(webGpuCheck({ ...result, gpu }).detail).toContain('Intel UHD (vulkan) (BRAID_GPU chooses one');
  });

  it('says that one of several GPUs of the same name can not be chosen', () => {
    const gpu = { ...result.gpu, adapters: ['NVIDIA A40 (vulkan)', 'NVIDIA A40 (vulkan)', 'Intel UHD (vulkan)'] };
    const { detail } = webGpuCheck({ ...result, gpu });
    expect(detail).toContain('all adapters: 2 x NVIDIA A40 (vulkan), Intel UHD (vulkan)');
    expect(detail).toContain('WebGPU always takes the first');
  });

  it('warns of wrong products', () => {
    expect(webGpuCheck({ ...result, error: 0.5 })).toMatchObject({
      status: 'WARN',
      next: expect.stringContaining('driver'),
    });
  });

  it('tells a software adapter from a GPU', () => {
    const gpu = { ...result.gpu, adapter: { ...adapter, software: true }, bandwidth: 0, memory: null };
    expect(webGpuCheck({ ...result, gflops: 1.2, gpu }).detail).toMatch(
      /^only a software adapter: .*1\.2 GFLOPS, buffers/,
    );
  });
});

describe('noGpuCheck', () => {
  it('is no warning where there is no GPU, and one where it fails', () => {
    const none = new BraidError('NO_GPU', 'No GPU was found: no adapter was found', { remedy: 'Install libvulkan1.' });
    expect(noGpuCheck(none)).toMatchObject({ status: 'OK', detail: expect.stringContaining('Install libvulkan1.') });
    // Drivers in containers are often there for CUDA alone.
    expect(noGpuCheck(none, [{ name: 'NVIDIA H200' }])).toMatchObject({
      status: 'WARN',
      detail: expect.stringContaining('although nvidia-smi lists NVIDIA H200'),
      next: expect.stringContaining('NVIDIA_DRIVER_CAPABILITIES=all'),
    });
    const lost = new BraidError('GPU_LOST', 'The GPU went away', { remedy: 'Restart.' });
    expect(noGpuCheck(lost)).toMatchObject({ status: 'WARN', next: 'Restart.' });
  });
});

describe('adapterName', () => {
  it('names the driver too', () => {
    expect(adapterName(adapter)).toBe('NVIDIA GeForce RTX 4090 (570.86.16)');
    expect(adapterName({ ...adapter, device: 'swiftshader', description: 'SwiftShader driver 5.0.0' })).toBe(
      'swiftshader (SwiftShader driver 5.0.0)',
    );
    expect(adapterName({ ...adapter, device: '', description: '' })).toBe('nvidia lovelace');
  });
});

describe('unitsInWords', () => {
  const inWords = (unit: MatrixUnit | null, matrixUnit: MatrixUnit | null, attentionByUnits = true): string =>
    unitsInWords({ adapter: { matrixUnit: unit }, matrixUnit, attentionByUnits });

  it('says which matrix unit products use, and why none', () => {
    const unit: MatrixUnit = { element: 'f16', m: 8, n: 16, k: 16, lanes: 16, sized: true };
    const words = '8 × 16 × 16 numbers of float16 in subgroups of 16';
    expect(inWords(unit, unit)).toBe(words);
    expect(inWords(unit, null)).toBe(`${words}, not used: switched off, or their products were wrong`);
    expect(inWords({ ...unit, element: 'f32' }, unit)).toContain('float32');
    expect(inWords(null, null)).toContain('none that');
    expect(inWords(unit, unit, false)).toBe(`${words}, not used for attention, which was wrong by them`);
  });
});

describe('gpuOptions', () => {
  it('reads adapter, memory and matrix units from the environment', () => {
    expect(gpuOptions({ BRAID_GPU: ' RTX ', BRAID_GPU_MEMORY_MB: '2048' })).toEqual({
      adapter: 'RTX',
      matrixUnits: true,
      budgetBytes: 2 ** 31,
    });
    expect(gpuOptions({})).toEqual({ adapter: null, matrixUnits: true });
    expect(gpuOptions({ BRAID_GPU_MATRIX_UNITS: 'off' })).toEqual({ adapter: null, matrixUnits: false });
  });
});
