import { mkdirSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askedGpuMemory, freeByAmdgpu, mostOfTrial } from '../../main/native/gpu-memory.ts';
import { temporaryFolder } from '../temporary-folder.ts';

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

  it.each([
    ["nothing of a processor's GPU that takes the machine's memory", 2, 512, null],
    ["the part that is set aside for a processor's GPU where it is the larger one", 2, 12_288, 12_188],
    ['the memory of a card, although it may take more of the machine', 1, 8192, 8092],
    ['the memory of a GPU without metrics', null, 2048, 1948],
  ])('knows %s', (_, revision, total, free) => {
    const folder = temporaryFolder();
    const device = join(folder, 'card0/device');
    mkdirSync(device, { recursive: true });
    const sizes = { vram_total: total, vram_used: 100, gtt_total: 10_000 };
    for (const [what, mib] of Object.entries(sizes)) writeFileSync(join(device, `mem_info_${what}`), `${mib * MIB}\n`);
    // The header: 16 bits of size, then the format's revision and the content's.
    if (revision !== null) writeFileSync(join(device, 'gpu_metrics'), Uint8Array.of(120, 0, revision, 3));
    expect(freeByAmdgpu(folder)).toBe(free === null ? null : free * MIB);
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
