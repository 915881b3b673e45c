import { writeFileSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { askNvidiaGpus, freeOfDevice, nvidiaGpusNow, readGpus, readHeld } from '../../main/native/nvidia-smi.ts';
import { temporaryFolder } from '../temporary-folder.ts';

afterEach(() => vi.unstubAllEnvs());

const MIB = 2 ** 20;
const two = 'NVIDIA A40, 46068, 45000, 570.86\nNVIDIA GeForce RTX 4090, 24564, 23000, 570.86\n';

describe('readGpus', () => {
  it('names every GPU with its driver, also one that hides its memory', () => {
    expect(readGpus('NVIDIA H200, 143771, 140000, 550.54.15\nOrin (nvgpu), [N/A], [N/A], 540.4\n')).toEqual([
      { name: 'NVIDIA H200', totalBytes: 143771 * MIB, freeBytes: 140000 * MIB, driver: '550.54.15' },
      { name: 'Orin (nvgpu)', totalBytes: null, freeBytes: null, driver: '540.4' },
    ]);
  });

  it('reads nothing from a message', () => {
    expect(readGpus('')).toEqual([]);
    expect(readGpus('NVIDIA-SMI has failed because it could not communicate with the driver, sorry.\n')).toEqual([]);
  });
});

describe('freeOfDevice', () => {
  it('takes the GPU of the name, otherwise the first', () => {
    expect(freeOfDevice(readGpus(two), 'NVIDIA GeForce RTX 4090')).toBe(23_000 * MIB);
    expect(freeOfDevice(readGpus(two), 'another')).toBe(45_000 * MIB);
    expect(freeOfDevice([])).toBeNull();
    expect(freeOfDevice(readGpus('Orin (nvgpu), [N/A], [N/A], 540.4\n'))).toBeNull();
  });
});

describe('freeOfDevice, where one name begins with the other', () => {
  it('takes the longer one that matches', () => {
    const gpus = readGpus(
      'NVIDIA GeForce RTX 3080, 10240, 9000, 570.86\nNVIDIA GeForce RTX 3080 Ti, 12288, 11000, 570.86\n',
    );
    expect(freeOfDevice(gpus, 'NVIDIA GeForce RTX 3080 Ti')).toBe(11_000 * MIB);
    expect(freeOfDevice(gpus, 'NVIDIA GeForce RTX 3080')).toBe(9000 * MIB);
  });
});

describe('readHeld', () => {
  it('adds up what a process holds on several GPUs, and knows when it is hidden', () => {
    expect(readHeld('12, 100\n7, 40\n12, 60\n', 12)).toBe(160 * MIB);
    expect(readHeld('7, 40\n', 12)).toBeNull();
    expect(readHeld('12, [N/A]\n', 12)).toBeNull();
  });
});

describe.skipIf(process.platform === 'win32')('the tool', () => {
  it('is started from a folder of the PATH, and never from the current folder', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'nvidia-smi'), '#!/bin/sh\necho "NVIDIA H200, 1, 1, 550"\n', { mode: 0o755 });
    vi.stubEnv('PATH', [relative(process.cwd(), folder), ''].join(delimiter));
    expect(nvidiaGpusNow()).toEqual([]);
    await expect(askNvidiaGpus()).rejects.toThrow('nvidia-smi is not on the PATH');
    vi.stubEnv('PATH', folder);
    expect(nvidiaGpusNow()).toMatchObject([{ name: 'NVIDIA H200' }]);
    expect(await askNvidiaGpus()).toMatchObject([{ name: 'NVIDIA H200' }]);
  });
});
