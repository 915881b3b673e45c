/** What the machine has for the native backend: GPUs, driver, CUDA libraries. Read-only. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { askNvidiaGpus, type NvidiaGpu } from '../../native/nvidia-smi.ts';

/** A driver can exist without a responding GPU, and vice versa. */
export interface GpuFacts {
  readonly gpus: readonly Pick<NvidiaGpu, 'name' | 'totalBytes' | 'freeBytes'>[];
  /** NVIDIA devices on the bus, with or without a driver. */
  readonly devices: number;
  /** Driver version from the kernel or nvidia-smi; null if there is none. */
  readonly driver: string | null;
  /** Folder or cache entry of each CUDA library that the loader would find, by file name. */
  readonly libraries: ReadonlyMap<string, string>;
}

const FOLDERS = [
  '/usr/local/cuda/lib64',
  '/usr/lib/x86_64-linux-gnu',
  '/usr/lib/aarch64-linux-gnu',
  '/usr/lib64',
  '/usr/local/lib',
  '/usr/lib/wsl/lib',
] as const;
const NVIDIA_VENDOR = '0x10de';

/** Inspects this machine; `extra` are folders where a set-up has its own libraries. */
export async function readGpuFacts(extra: readonly string[] = []): Promise<GpuFacts> {
  // Without the tool, or without a GPU that it finds, there is none.
  const gpus = await askNvidiaGpus().catch(() => []);
  const driver = gpus[0]?.driver ?? kernelDriver();
  return { gpus, devices: countDevices(), driver, libraries: findLibraries(extra) };
}

function kernelDriver(): string | null {
  try {
    const text = readFileSync('/proc/driver/nvidia/version', 'utf8');
    return /Kernel Module\s+(?:for \S+\s+)?(\S+)/.exec(text)?.[1] ?? 'unknown';
  } catch {
    return null;
  }
}

/** NVIDIA display devices on the PCI bus. */
function countDevices(): number {
  const bus = '/sys/bus/pci/devices';
  if (!existsSync(bus)) return 0;
  const read = (device: string, file: string): string => {
    try {
      return readFileSync(`${bus}/${device}/${file}`, 'utf8').trim();
    } catch {
      // The device was removed meanwhile.
      return '';
    }
  };
  return readdirSync(bus).filter(
    (device) => read(device, 'vendor') === NVIDIA_VENDOR && /^0x03/.test(read(device, 'class')),
  ).length;
}

function findLibraries(extra: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const path = (process.env.LD_LIBRARY_PATH ?? '').split(':').filter((folder) => folder !== '');
  for (const folder of [...extra, ...path, ...FOLDERS]) {
    for (const name of list(folder)) {
      if (/^lib(cuda|cudart|cublas|cudnn)\.so/.test(name) && !found.has(name)) found.set(name, folder);
    }
  }
  return found;
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Most of the usual folders don't exist.
    return [];
  }
}
