/** How much memory this process may use for tensors, on whatever computes. */
import * as tf from '@tensorflow/tfjs-core';
import type { ModelConfig } from '../../model/config.ts';
import {
  askedGpuMemory,
  freeTensorMemory,
  type GpuMemory,
  mostOfTrial,
  USERS_NUMBER,
} from '../../native/gpu-memory.ts';
import { usedGpu } from '../../native/gpu-settings.ts';
import { type HeldGpuMemory, watchOwnMemory } from '../../native/gpu-watch.ts';
import { askHeldBytes, freeOfDevice, nvidiaGpusNow } from '../../native/nvidia-smi.ts';
import type { NativeBackend } from '../../tensor/native/binding.ts';
import { NATIVE_BACKEND } from '../../tensor/native/load.ts';
import { WEBGPU_BACKEND, type WebGpuBackend } from '../../tensor/webgpu/backend.ts';
import type { Gpu } from '../../tensor/webgpu/gpu.ts';
import {
  type Budget,
  type Device,
  deviceBudget,
  hostOfGpuRun,
  isOnGpu,
  type MemoryUse,
  NATIVE_PROGRAM,
  vocabularyBytes,
  WASM_PROGRAM,
} from './budget.ts';
import { activationBound, promisedToOthers } from './environment.ts';

/** What the current backend computes on. */
export function currentDevice(): Device {
  if (tf.getBackend() === WEBGPU_BACKEND)
    return (tf.backend() as WebGpuBackend).gpu.adapter.software ? 'webgpu-software' : 'webgpu';
  if (tf.getBackend() !== NATIVE_BACKEND) return 'wasm';
  return (tf.backend() as NativeBackend).isUsingGpuDevice ? 'native-gpu' : 'native';
}

/**
 * The budget of this process on the current backend: what is free now and not promised to others, and what it already
 * has. `beside`: bytes of the machine's memory that it will need for something else.
 */
export function currentBudget(beside = 0): Budget {
  const [device, promised] = [currentDevice(), promisedToOthers()];
  if (tf.getBackend() === WEBGPU_BACKEND) {
    const { gpu } = tf.backend() as WebGpuBackend;
    const memory = gpuMemory(gpu);
    if (memory !== null) {
      const bytes = Math.max(0, memory.bytes - promised.gpu);
      // From here on the GPU refuses to go beyond what was planned with.
      gpu.budgetBytes = bytes;
      return deviceBudget('webgpu', bytes, activationBound());
    }
  }
  const onGpu = device === 'native-gpu';
  const free = freeTensorMemory(onGpu) - (onGpu ? promised.gpu : promised.host);
  const bytes = Math.max(0, free) + (onGpu ? 0 : process.memoryUsage.rss() - beside);
  return deviceBudget(device, bytes, activationBound());
}

/** What a GPU's buffers have taken at most, and what they may. */
export interface GpuUse {
  readonly peakBytes: number;
  /** null: a software adapter without a limit, or nobody says what is free. */
  readonly memory: GpuMemory | null;
}

/** Of the current backend's GPU; null where it computes on the processor. */
export async function gpuUse(): Promise<GpuUse | null> {
  const device = currentDevice();
  if (device === 'native-gpu') {
    const held = await askHeldBytes(process.pid).catch(() => null);
    return cudaUse(held, tf.memory().numBytes, freeOfDevice(nvidiaGpusNow(), '', usedGpu()));
  }
  if (tf.getBackend() !== WEBGPU_BACKEND) return null;
  const { gpu } = tf.backend() as WebGpuBackend;
  return { peakBytes: gpu.counts.peakBytes, memory: gpuMemory(gpu) };
}

/** What nvidia-smi says of a process: TensorFlow's pool keeps what it has had. In containers it may tell only what is free. */
export function cudaUse(held: number | null, tensors: number, free: number | null): GpuUse {
  const peakBytes = held ?? tensors;
  return { peakBytes, memory: free === null ? null : { bytes: peakBytes + free, source: 'nvidia-smi' } };
}

/** Found once a GPU: a plan that changed with every job would change how work is divided. */
const found = new WeakMap<Gpu, GpuMemory>();

/** The user's number, what is said to be free, or what a trial could allocate; null: a software adapter without either. */
export function gpuMemory(gpu: Gpu): GpuMemory | null {
  const known = found.get(gpu);
  if (known !== undefined) return known;
  const memory = findMemory(gpu);
  if (memory !== null) found.set(gpu, memory);
  return memory;
}

function findMemory(gpu: Gpu): GpuMemory | null {
  if (gpu.budgetBytes !== null) return { bytes: gpu.budgetBytes, source: USERS_NUMBER };
  if (gpu.adapter.software) return null;
  const { bytes: own } = gpu.counts;
  const asked = askedGpuMemory(gpu.adapter) ?? { bytes: gpu.room(mostOfTrial()), source: 'found by a trial' };
  return { ...asked, bytes: asked.bytes + own };
}

const ownMemory = watchOwnMemory();

/** MiB of the GPU that this process holds now and held at most; none on the processor. */
export function gpuMemoryMetrics(): Readonly<Record<string, number>> {
  const held = heldGpuMemory();
  if (held === null) return {};
  return { gpu_memory_mb: held.bytes / 2 ** 20, gpu_memory_peak_mb: held.peakBytes / 2 ** 20 };
}

/**
 * The peak of this process, from what its work adds on the current backend to what it holds, and held `before` some of
 * that work was tried.
 */
export function peakUse(added: number, before: number, config: Pick<ModelConfig, 'vocabSize'>): MemoryUse {
  const device = currentDevice();
  const { rss, heapUsed } = process.memoryUsage();
  const program = device === 'wasm' ? WASM_PROGRAM : NATIVE_PROGRAM;
  const own = program + vocabularyBytes(config) + Math.max(0, heapUsed - NODE_HEAP);
  const needed = own + tf.memory().numBytes;
  const host = heldBytes(device, before, rss, needed);
  if (!isOnGpu(device)) return { host: Math.max(before, host + added), gpu: 0 };
  // What TensorFlow's pool holds beyond its tensors is free for the work.
  const held = device === 'webgpu' ? (tf.backend() as WebGpuBackend).gpu.counts.bytes : tf.memory().numBytes;
  return { host: hostOfGpuRun(device, host), gpu: held + added };
}

/** Of the JavaScript heap, what a program's usual size has of it. */
const NODE_HEAP = 100 * 2 ** 20;

/**
 * What a process holds besides its work, from its size before and after a trial and what it needs of that. glibc and
 * wasm's heap keep what was freed, as while weights were read, and the work uses that first.
 */
export function heldBytes(device: Device, before: number, after: number, needed: number): number {
  return device === 'native' || device === 'wasm' ? Math.min(before, after, needed) : after;
}

let mostTensorBytes = 0;

/** Containers may hide from nvidia-smi who holds what: then the tensors alone, as in `cudaUse`. */
function tensorMemory(): HeldGpuMemory {
  const bytes = tf.memory().numBytes;
  mostTensorBytes = Math.max(mostTensorBytes, bytes);
  return { bytes, peakBytes: mostTensorBytes };
}

function heldGpuMemory(): HeldGpuMemory | null {
  if (tf.getBackend() === WEBGPU_BACKEND) return (tf.backend() as WebGpuBackend).gpu.counts;
  return currentDevice() === 'native-gpu' ? (ownMemory() ?? tensorMemory()) : null;
}
