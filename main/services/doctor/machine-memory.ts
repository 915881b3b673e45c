/** What this machine has for tensors: its own memory and, apart from it, a GPU's. Everything that plans asks here. */
import { hostMemory } from '../../io/memory.ts';
import { currentLayout, readManifest } from '../../native/folder.ts';
import { freeByAmdgpu, mayHaveGpu, USERS_NUMBER } from '../../native/gpu-memory.ts';
import { gpuToUse } from '../../native/gpu-settings.ts';
import { watched } from '../../native/gpu-watch.ts';
import { askNvidiaGpus, freeOfDevice } from '../../native/nvidia-smi.ts';
import type { BackendSetting } from '../../trainer/config/backend-names.ts';
import type { GpuCheck } from '../../trainer/jobs/self-check.ts';
import { type Budget, type Device, deviceBudget, isOnGpu, type MemoryUse } from '../../trainer/memory/budget.ts';
import { activationBound } from '../../trainer/memory/environment.ts';
import { readGpuFacts } from '../native-setup/machine.ts';
import { gpuIsUsable } from '../native-setup/source.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { webGpuFacts } from './webgpu.ts';

/** A GPU that runs are computed on. */
export interface MachineGpu {
  readonly name: string;
  readonly freeBytes: number;
  /** It has no memory of its own: what it uses is missing from the machine's. */
  readonly shared: boolean;
  /** Whether the native backend computes on it. */
  readonly cuda: boolean;
}

export interface MachineMemory {
  readonly freeBytes: number;
  /** Null: none, or not known yet. */
  readonly gpu: MachineGpu | null;
  /** Whether the native backend is set up. */
  readonly native: boolean;
}

type Paths = Pick<HostPaths, 'kernels' | 'trainer'>;

/** What a backend computes on here. `auto` on a machine with a GPU: the GPU, although a tiny model may be kept off it. */
export function deviceFor(backend: BackendSetting, { gpu, native }: MachineMemory): Device {
  if (backend === 'wasm') return 'wasm';
  if (backend === 'webgpu') return gpu === null ? 'webgpu-software' : 'webgpu';
  if (gpu?.cuda === true) return 'native-gpu';
  if (backend === 'native') return 'native';
  if (gpu !== null) return 'webgpu';
  return native ? 'native' : 'wasm';
}

/** The memory that a device has free; `bytes` stands for it on another machine. */
export function budgetFor(device: Device, { freeBytes, gpu }: MachineMemory, bytes: number | null = null): Budget {
  const free = bytes ?? (isOnGpu(device) && gpu !== null ? gpu.freeBytes : freeBytes);
  return deviceBudget(device, free, activationBound());
}

/** What is taken of this machine's two memories: a GPU without its own takes the machine's. */
export function takenHere({ host, gpu }: MemoryUse, machine: MachineMemory): MemoryUse {
  return machine.gpu?.shared === true ? { host: host + gpu, gpu: 0 } : { host, gpu };
}

/** Looks at this machine now. The first time, a trainer process is asked what GPU it finds. */
export async function machineMemory(paths: Paths): Promise<MachineMemory> {
  return withGpu(await findGpu(paths));
}

const watches = new WeakMap<HostPaths['trainer'], () => MachineGpu | null>();

/** The same at once, as it was last seen: the first answer knows of no GPU yet. */
export function knownMachineMemory(paths: Paths): MachineMemory {
  const known = watches.get(paths.trainer) ?? watched<MachineGpu | null>(null, () => findGpu(paths));
  watches.set(paths.trainer, known);
  return withGpu(known());
}

/** Its GPU, for those who only show it: null until somebody has asked for more, which starts a process. */
export function seenGpu(paths: Paths): MachineGpu | null {
  return watches.get(paths.trainer)?.() ?? null;
}

function withGpu(gpu: MachineGpu | null): MachineMemory {
  return { freeBytes: hostMemory().freeBytes, gpu, native: readManifest(currentLayout()) !== null };
}

async function findGpu(paths: Paths): Promise<MachineGpu | null> {
  const manifest = readManifest(currentLayout());
  if (manifest?.cuda === true) {
    const facts = await readGpuFacts();
    const used = gpuToUse(facts.gpus);
    if (used !== null && gpuIsUsable(facts, manifest.tensorflow))
      return { name: used.name, freeBytes: used.freeBytes ?? used.totalBytes ?? 0, shared: false, cuda: true };
  }
  const found = await adapterOf(paths);
  return found === null ? null : { ...(await roomOf(found)), name: found.name, cuda: false };
}

const adapters = new WeakMap<HostPaths['trainer'], Promise<GpuCheck | null>>();

/** What a trainer process finds by WebGPU; it doesn't change while the app runs. */
function adapterOf(paths: Paths): Promise<GpuCheck | null> {
  if (!mayHaveGpu()) return Promise.resolve(null);
  const asked = adapters.get(paths.trainer) ?? webGpuFacts(paths);
  adapters.set(paths.trainer, asked);
  return asked;
}

/** What is free of it now, where somebody knows; otherwise what its process found when it was asked. */
async function roomOf({ adapter, memory }: GpuCheck): Promise<Pick<MachineGpu, 'freeBytes' | 'shared'>> {
  const found = memory?.bytes ?? 0;
  const most = memory?.source === USERS_NUMBER ? found : Number.POSITIVE_INFINITY;
  const freeNow = /nvidia/i.test(adapter.vendor)
    ? freeOfDevice(await askNvidiaGpus().catch(() => []), adapter.device)
    : /amd|radeon|ati/i.test(adapter.vendor)
      ? freeByAmdgpu()
      : null;
  // Apple's GPUs share the machine's memory, and so do most of those about which nobody can be asked.
  return { freeBytes: Math.min(most, freeNow ?? found), shared: freeNow === null };
}
