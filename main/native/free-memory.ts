/** How much memory there is for tensors: the GPU's where TensorFlow computes on one, else the machine's. */
import { hostMemory } from '../io/memory.ts';
import { usedGpu } from './gpu-settings.ts';
import { freeOfDevice, nvidiaGpusNow } from './nvidia-smi.ts';

/** Bytes that are free now, of the GPU that TensorFlow sees. */
export function freeTensorMemory(onGpu: boolean): number {
  return (onGpu ? freeOfDevice(nvidiaGpusNow(), '', usedGpu()) : null) ?? hostMemory().freeBytes;
}
