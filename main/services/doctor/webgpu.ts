/** GPUs that WebGPU reaches: NVIDIA, AMD, Intel, Apple, with nothing to set up but a driver. */
import { BraidError } from '../../errors.ts';
import { type NvidiaGpu, nvidiaGpusNow } from '../../native/nvidia-smi.ts';
import { formatBytes } from '../../text/format.ts';
import type { GpuCheck, SelfCheckResult } from '../../trainer/jobs/self-check.ts';
import { type JobOptions, runTrainerJob } from '../trainer-process/job.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { type Check, ok, warn } from './check.ts';

const NAME = 'GPU by WebGPU';
/** Sums of 256 products of float32 numbers below 1 are off by less than this. */
const TOLERANCE = 1e-3;

/** Tries the webgpu backend in a trainer process. */
export async function checkWebGpu(
  paths: Pick<HostPaths, 'kernels' | 'trainer'>,
  options: JobOptions = {},
): Promise<Check> {
  try {
    return webGpuCheck(await tryWebGpu(paths, options));
  } catch (error) {
    if (!(error instanceof BraidError) || error.code === 'INTERRUPTED') throw error;
    return noGpuCheck(error, nvidiaGpusNow());
  }
}

async function tryWebGpu(paths: Pick<HostPaths, 'kernels' | 'trainer'>, options: JobOptions): Promise<SelfCheckResult> {
  const job = { kind: 'self-check', backend: 'webgpu', threads: 1, kernelsFile: paths.kernels } as const;
  return (await runTrainerJob(job, paths.trainer, options)).value;
}

/** The GPU that auto would try; null where there is none. */
export async function webGpuFacts(
  paths: Pick<HostPaths, 'kernels' | 'trainer'>,
  options: JobOptions = {},
): Promise<GpuCheck | null> {
  try {
    const { gpu } = await tryWebGpu(paths, options);
    return gpu === null || gpu.adapter.software ? null : gpu;
  } catch (error) {
    if (error instanceof BraidError && error.code !== 'INTERRUPTED') return null;
    throw error;
  }
}

/** The line for a backend that works. */
export function webGpuCheck({ error, gflops, gpu }: SelfCheckResult): Check {
  if (gpu === null) throw new Error('Expected the self-check of a GPU to say what it is');
  const { name, adapter, adapters, bandwidth, memory } = gpu;
  const others =
    adapters.length > 1 ? `; all adapters: ${adapters.join(', ')} (BRAID_GPU chooses one by a part of its name)` : '';
  const { maxBufferSize, maxStorageBufferBindingSize, maxComputeInvocationsPerWorkgroup } = adapter.limits;
  const { maxComputeWorkgroupStorageSize } = adapter.limits;
  const limits = [
    ...(memory === null ? [] : [`${formatBytes(memory.bytes)} of memory (${memory.source})`]),
    `buffers up to ${formatBytes(Math.min(maxBufferSize, maxStorageBufferBindingSize))}`,
    `workgroups of ${maxComputeInvocationsPerWorkgroup} with ${maxComputeWorkgroupStorageSize / 1024} KiB`,
  ].join(', ');
  const speed = `${gflops.toFixed(gflops < 10 ? 1 : 0)} GFLOPS${bandwidth > 0 ? `, ${bandwidth.toFixed(0)} GB/s` : ''}`;
  const wanted = ['shader-f16', 'subgroups', 'timestamp-query'].filter((feature) => adapter.features.includes(feature));
  const detail = `${name}, ${speed}, ${limits}, ${wanted.length === 0 ? 'no extra features' : wanted.join(' ')}${others}`;
  if (error >= TOLERANCE)
    return warn(
      NAME,
      `${detail}, but a 256 x 256 product is off by ${error.toPrecision(2)}`,
      'Update the driver, or use --backend wasm.',
    );
  if (adapter.software) return ok(NAME, `only a software adapter: ${detail}; good for tests, never taken by auto`);
  return ok(NAME, detail);
}

/**
 * The line for a machine without: none is needed, so it is no warning unless something is broken, or a GPU that
 * nvidia-smi lists is hidden from WebGPU.
 */
export function noGpuCheck(
  { code, message, remedy = '' }: BraidError,
  seen: readonly Pick<NvidiaGpu, 'name'>[] = [],
): Check {
  const [gpu] = seen;
  if (code === 'NO_GPU' && gpu !== undefined)
    return warn(
      NAME,
      `${message}, although nvidia-smi lists ${gpu.name}`,
      'Install the Vulkan loader (libvulkan1); in a container, the driver needs NVIDIA_DRIVER_CAPABILITIES=all.',
    );
  if (code === 'NO_GPU' || code === 'NO_WEBGPU') return ok(NAME, `${message}. Not needed; ${remedy}`);
  return warn(NAME, message, remedy);
}
