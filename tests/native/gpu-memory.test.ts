import { mkdirSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askedGpuMemory, freeByAmdgpu, mostOfTrial } from '../../main/native/gpu-memory.ts';
import { temporaryFolder } from '../store/helpers.ts';

const MIB = 2 ** 20;

describe('freeByAmdgpu', () => {
  it('takes the card with the most memory, less what is used', () => {
    const folder = temporaryFolder();
    const card = (name: string, total: number, used: number): void => {
      mkdirSync(join(folder, name, 'device'), { recursive: true });
      writeFileSync(join(folder, name, 'device/mem_info_vram_total'), `${total}\n`);
      writeFileSync(join(folder, name, 'device/mem_info_vram_used'), `${used}\n`);
    };
    card('card0', 512 * MIB, 100 * MIB);
    card('card1', 16_000 * MIB, 1000 * MIB);
    mkdirSync(join(folder, 'card1-DP-1'));
    expect(freeByAmdgpu(folder)).toBe(15_000 * MIB);
  });

  it('knows nothing without such a card', () => {
    expect(freeByAmdgpu(temporaryFolder())).toBeNull();
    expect(freeByAmdgpu('/nowhere')).toBeNull();
  });
});

describe('askedGpuMemory', () => {
  it('lets an Apple GPU have three quarters of the memory at most', () => {
    const asked = askedGpuMemory({ vendor: 'apple', device: 'Apple M4 Max' });
    expect(asked?.bytes).toBeLessThanOrEqual(0.75 * totalmem());
    expect(asked?.bytes).toBeGreaterThan(0);
  });

  it('knows nothing of others, so that a trial finds it', () => {
    expect(askedGpuMemory({ vendor: 'intel', device: 'Arc' })).toBeNull();
    expect(mostOfTrial()).toBeGreaterThan(0);
  });
});
