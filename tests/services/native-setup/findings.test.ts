import { describe, expect, it } from 'vitest';
import { findings } from '../../../main/services/native-setup/findings.ts';
import type { GpuFacts } from '../../../main/services/native-setup/machine.ts';
import { cudaRequirements, driverAtLeast } from '../../../main/services/native-setup/requirements.ts';

const none: GpuFacts = { gpus: [], devices: 0, driver: null, libraries: new Map() };
const gpu = { name: 'NVIDIA GeForce RTX 4090', totalBytes: 24564 * 2 ** 20, freeBytes: null };
const whole = new Map(['libcudart.so.12', 'libcublas.so.12', 'libcudnn.so.9'].map((name) => [name, '/usr/lib']));

describe('findings', () => {
  it('says no more than that there is no GPU', () => {
    expect(findings(none, '2.21.0')).toEqual([{ what: 'GPU', missing: false, detail: 'none found' }]);
  });

  it('tells a GPU without a driver', () => {
    const [device, driver] = findings({ ...none, devices: 1 }, '2.21.0');
    expect(device).toMatchObject({ missing: true, detail: '1 from NVIDIA, but no working driver' });
    expect(driver).toMatchObject({ missing: true, detail: 'none; 525.60.13 or newer is needed' });
  });

  it('tells a driver that is too old for this TensorFlow but not for an older one', () => {
    const facts = { ...none, gpus: [gpu], devices: 1, driver: '470.199.02', libraries: whole };
    expect(findings(facts, '2.21.0')[1]).toMatchObject({
      missing: true,
      detail: '470.199.02 is too old for CUDA 12.5: 525.60.13 or newer is needed',
    });
    expect(findings(facts, '2.9.1')[1]).toMatchObject({ missing: false, detail: '470.199.02' });
  });

  it('names the libraries that are missing, and others of the wrong version', () => {
    const libraries = new Map([...whole].filter(([name]) => !name.includes('cudnn')));
    libraries.set('libcudnn.so.8', '/usr/lib');
    const facts = { ...none, gpus: [gpu], devices: 1, driver: '550.54.15', libraries };
    expect(findings(facts, '2.21.0')[2]?.detail).toBe(
      'CUDA 12.5 and cuDNN 9.3 needed, missing libcudnn.so.9; of another version: libcudnn.so.8',
    );
    expect(findings({ ...facts, libraries: whole }, '2.21.0').some(({ missing }) => missing)).toBe(false);
  });

  it('tells a driver whose GPU does not answer', () => {
    expect(findings({ ...none, driver: '550.54.15' }, '2.21.0')[0]?.detail).toMatch(/nvidia-smi finds no GPU/);
  });
});

describe('requirements', () => {
  it('follow the TensorFlow version', () => {
    expect(['2.9.1', '2.15.0', '2.17.0', '2.18.0', '2.21.0'].map((v) => cudaRequirements(v).cuda)).toEqual([
      '11.2',
      '12.2',
      '12.3',
      '12.5',
      '12.5',
    ]);
    expect(cudaRequirements('2.17.0').libraries).toContain('libcudnn.so.8');
  });

  it('compare drivers number by number', () => {
    expect(driverAtLeast('550.54', '525.60.13')).toBe(true);
    expect(driverAtLeast('525.60.13', '525.60.13')).toBe(true);
    expect(driverAtLeast('525.9.99', '525.60.13')).toBe(false);
  });
});
