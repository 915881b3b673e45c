/** What an adapter has to offer at least: the limits that WebGPU guarantees, to which all kernels keep. */
import type { GpuLimits } from './protocol.ts';

export const GUARANTEED: GpuLimits = {
  maxBufferSize: 256 * 2 ** 20,
  maxStorageBufferBindingSize: 128 * 2 ** 20,
  maxComputeWorkgroupStorageSize: 16_384,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupsPerDimension: 65_535,
  maxStorageBuffersPerShaderStage: 8,
};

/** The limits that are below what the kernels need, each with both numbers. */
export function smallLimits(limits: GpuLimits): string[] {
  return Object.entries(GUARANTEED).flatMap(([name, least]) => {
    const found = limits[name as keyof GpuLimits];
    return found >= least ? [] : [`${name} ${found}, but ${least} is needed`];
  });
}
