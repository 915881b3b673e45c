import { describe, expect, it, vi } from 'vitest';
import { budgetFor, deviceFor, type MachineMemory, takenHere } from '../../../main/services/doctor/machine-memory.ts';

const GIB = 2 ** 30;
const plain: MachineMemory = { freeBytes: 8 * GIB, gpu: null, native: false };
const gpu = { name: 'RTX 4090', freeBytes: 20 * GIB, shared: false, cuda: false };

describe('deviceFor', () => {
  it('is what a run of each backend computes on', () => {
    const on = (machine: MachineMemory) =>
      (['auto', 'native', 'webgpu', 'wasm'] as const).map((backend) => deviceFor(backend, machine));
    expect(on(plain)).toEqual(['wasm', 'native', 'webgpu-software', 'wasm']);
    expect(on({ ...plain, native: true })).toEqual(['native', 'native', 'webgpu-software', 'wasm']);
    expect(on({ ...plain, gpu })).toEqual(['webgpu', 'native', 'webgpu', 'wasm']);
    expect(on({ ...plain, native: true, gpu: { ...gpu, cuda: true } })).toEqual([
      ...['native-gpu', 'native-gpu', 'webgpu', 'wasm'],
    ]);
  });
});

describe('budgetFor', () => {
  it("is the GPU's memory on the GPU, the machine's elsewhere", () => {
    const machine = { ...plain, gpu };
    expect(budgetFor('webgpu', machine).bytes).toBe(20 * GIB);
    expect(budgetFor('native', machine).bytes).toBe(8 * GIB);
    expect(budgetFor('webgpu-software', plain).bytes).toBe(8 * GIB);
    expect(budgetFor('webgpu', machine, 12 * GIB).bytes).toBe(12 * GIB);
  });
});

describe('budgetFor, with a bound of the user', () => {
  it('plans with it, as trainers do', () => {
    expect(budgetFor('native', plain).activationMb).toBeNull();
    vi.stubEnv('BRAID_ACTIVATION_MEMORY_MB', '256');
    expect(budgetFor('native', plain).activationMb).toBe(256);
    vi.unstubAllEnvs();
  });
});

describe('takenHere', () => {
  it('takes from the machine what a GPU without memory of its own uses', () => {
    const use = { host: GIB, gpu: 3 * GIB };
    expect(takenHere(use, { ...plain, gpu })).toEqual(use);
    expect(takenHere(use, { ...plain, gpu: { ...gpu, shared: true } })).toEqual({ host: 4 * GIB, gpu: 0 });
  });
});
