import { afterEach, describe, expect, it, vi } from 'vitest';
import { cudaUse, currentBudget, heldBytes } from '../../../main/trainer/memory/device.ts';
import { promisedEnvironment, promisedToOthers } from '../../../main/trainer/memory/environment.ts';

describe('heldBytes', () => {
  it('leaves out what a trial has freed in a heap that keeps it', () => {
    expect(heldBytes('wasm', 1171, 1507, 1500)).toBe(1171);
    expect(heldBytes('native', 1171, 1507, 1500)).toBe(1171);
    expect(heldBytes('native', 1171, 1100, 1500)).toBe(1100);
    expect(heldBytes('webgpu', 1171, 1507, 1000)).toBe(1507);
  });

  it.each(['native', 'wasm'] as const)('leaves out what reading weights on %s has freed', (device) => {
    expect(heldBytes(device, 1171, 1507, 900)).toBe(900);
  });
});

describe('cudaUse', () => {
  it('adds what is free to what the process holds, or to its tensors where that is hidden', () => {
    expect(cudaUse(900, 700, 100)).toEqual({ peakBytes: 900, memory: { bytes: 1000, source: 'nvidia-smi' } });
    expect(cudaUse(null, 700, 100)).toEqual({ peakBytes: 700, memory: { bytes: 800, source: 'nvidia-smi' } });
    expect(cudaUse(null, 700, null)).toEqual({ peakBytes: 700, memory: null });
  });
});

describe('memory promised to others', () => {
  afterEach(() => void vi.restoreAllMocks());

  it('crosses the environment', () => {
    expect(promisedToOthers(promisedEnvironment({ host: 300, gpu: 7000 }))).toEqual({ host: 300, gpu: 7000 });
    expect(promisedEnvironment({ host: 0, gpu: 0 })).toEqual({});
    expect(promisedToOthers({})).toEqual({ host: 0, gpu: 0 });
  });

  it("is not part of a process's budget", () => {
    const mib = 2 ** 20;
    vi.spyOn(process, 'availableMemory').mockReturnValue(1000 * mib);
    vi.spyOn(process.memoryUsage, 'rss').mockReturnValue(100 * mib);
    vi.stubEnv('BRAID_PROMISED_BYTES', `${300 * mib},0`);
    expect(currentBudget()).toMatchObject({ device: 'wasm', bytes: 800 * mib });
    vi.stubEnv('BRAID_PROMISED_BYTES', `${3000 * mib},0`);
    expect(currentBudget().bytes).toBe(100 * mib);
    vi.unstubAllEnvs();
  });
});
