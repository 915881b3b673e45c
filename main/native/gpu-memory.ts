/** How much memory a GPU has: by the user's number, by asking who knows, by a trial. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { hostMemory } from '../io/memory.ts';
import { usedGpu } from './gpu-settings.ts';
import { freeOfDevice, nvidiaGpusNow } from './nvidia-smi.ts';

/** Bytes that may be used now, and who said so, as a person reads it. */
export interface GpuMemory {
  readonly bytes: number;
  readonly source: string;
}

/** The source of a number that the user gave, which bounds a process whatever is free. */
export const USERS_NUMBER = 'BRAID_GPU_MEMORY_MB';

/** What an adapter says of itself, as far as memory is concerned. */
export interface GpuIdentity {
  readonly vendor: string;
  readonly device: string;
}

/** An Apple GPU shares the machine's memory; macOS lets it have about so much of it. */
const APPLE_SHARE = 0.75;

/** A trial takes at most this share of the machine's free memory, which an integrated GPU shares. */
const TRIAL_SHARE = 0.5;

/** Free memory by who knows; null: nobody. */
export function askedGpuMemory({ vendor, device }: GpuIdentity): GpuMemory | null {
  if (/apple/i.test(vendor)) {
    const bytes = Math.min(APPLE_SHARE * totalmem(), process.availableMemory());
    return { bytes, source: 'shared with the processor' };
  }
  if (/nvidia/i.test(vendor)) return told(freeOfDevice(nvidiaGpusNow(), device), 'nvidia-smi');
  if (/amd|radeon|ati/i.test(vendor)) return told(freeByAmdgpu(), 'the amdgpu driver');
  return null;
}

/** The most that a trial should take of a GPU that nobody knows about. */
export function mostOfTrial(): number {
  return TRIAL_SHARE * process.availableMemory();
}

/** Linux shows a GPU as a device file. Without one, loading Dawn and its drivers would cost every start half a second. */
export function mayHaveGpu(): boolean {
  if (process.platform !== 'linux') return true;
  return ['/dev/dri', '/dev/nvidiactl', '/dev/dxg', '/dev/kfd', '/dev/mali0'].some((device) => existsSync(device));
}

const told = (bytes: number | null, source: string): GpuMemory | null => (bytes === null ? null : { bytes, source });

/**
 * Of the card with the most memory, by the kernel's files. Null also where that is a processor's own GPU and the BIOS
 * sets less aside for it (VRAM) than it may take of the machine's memory (GTT).
 */
export function freeByAmdgpu(folder = '/sys/class/drm'): number | null {
  if (!existsSync(folder)) return null;
  const cards = readdirSync(folder).filter((name) => /^card\d+$/.test(name));
  const sizes = cards.map((card) => {
    const device = join(folder, card, 'device');
    const bytes = (what: string): number => {
      const file = join(device, `mem_info_${what}`);
      return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
    };
    return { device, total: bytes('vram_total'), used: bytes('vram_used'), shared: bytes('gtt_total') };
  });
  const [largest] = sizes.filter(({ total }) => total > 0).sort((a, b) => b.total - a.total);
  if (largest === undefined) return null;
  const { device, total, used, shared } = largest;
  return shared > total && isIntegrated(device) ? null : total - used;
}

/**
 * By the revision of its metrics' format: from 2 on for GPUs in processors, 1 for cards, whose GTT is often larger than
 * their VRAM too (half of the machine's memory). GPUs before Renoir have no metrics and count as cards.
 */
function isIntegrated(device: string): boolean {
  try {
    const [, , revision = 0] = readFileSync(join(device, 'gpu_metrics'));
    return revision >= 2;
  } catch {
    // There are none, or the GPU is asleep, which those in processors never are.
    return false;
  }
}

/** Bytes that are free now, of the GPU that TensorFlow sees. */
export function freeTensorMemory(onGpu: boolean): number {
  return (onGpu ? freeOfDevice(nvidiaGpusNow(), '', usedGpu()) : null) ?? hostMemory().freeBytes;
}
