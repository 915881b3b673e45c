/** How much memory this process may use for tensors, on whatever computes. */
import * as tf from '@tensorflow/tfjs-core';
import { freeTensorMemory } from '../../native/free-memory.ts';
import type { NativeBackend } from '../../tensor/native/binding.ts';
import { NATIVE_BACKEND } from '../../tensor/native/load.ts';
import { WEBGPU_BACKEND, type WebGpuBackend } from '../../tensor/webgpu/backend.ts';
import { type Budget, type Device, deviceBudget } from './budget.ts';

/** What the current backend computes on. */
export function currentDevice(): Device {
  if (tf.getBackend() === WEBGPU_BACKEND)
    return (tf.backend() as WebGpuBackend).gpu.adapter.software ? 'webgpu-software' : 'webgpu';
  if (tf.getBackend() !== NATIVE_BACKEND) return 'wasm';
  return (tf.backend() as NativeBackend).isUsingGpuDevice ? 'native-gpu' : 'native';
}

/** The budget of this process on the current backend: what is free now, and what it already has. */
export function currentBudget(): Budget {
  const device = currentDevice();
  const onGpu = device === 'native-gpu' || device === 'webgpu';
  const limit = tf.getBackend() === WEBGPU_BACKEND ? (tf.backend() as WebGpuBackend).gpu.budgetBytes : null;
  if (limit !== null) return deviceBudget('webgpu', limit);
  return deviceBudget(device, freeTensorMemory(onGpu) + (onGpu ? 0 : process.memoryUsage.rss()));
}
