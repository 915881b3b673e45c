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
export async function webGpuFacts(paths: Pick<HostPaths, 'kernels' | 'trainer'>): Promise<GpuCheck | null> {
  try {
    const { gpu } = await tryWebGpu(paths, {});
    return gpu === null || gpu.adapter.software ? null : gpu;
  } catch (error) {
    if (error instanceof BraidError && error.code !== 'INTERRUPTED') return null;
    throw error;
  }
}

/** The line for a backend that works. */
export function webGpuCheck({ error, gflops, gpu }: SelfCheckResult): Check {
  if (gpu === null) throw new Error('Expected the self-check of a GPU to say what it is');
  const { name, adapter, units, adapters, bandwidth, memory } = gpu;
  const limits = [
    ...(memory === null ? [] : [`${formatBytes(memory.bytes)} of memory (${memory.source})`]),
    ...limitWords(adapter.limits),
  ].join(', ');
  const speed = `${gflops.toFixed(gflops < 10 ? 1 : 0)} GFLOPS${bandwidth > 0 ? `, ${bandwidth.toFixed(0)} GB/s` : ''}`;
  const detail = `${name}, ${speed}, ${limits}; ${featureWords(adapter.features)}; matrix units: ${units}${otherAdapters(adapters)}`;
  if (error >= TOLERANCE)
    return warn(
      NAME,
      `${detail}, but a 256 x 256 product is off by ${error.toPrecision(2)}`,
      'Update the driver, or use the wasm backend.',
    );
  if (adapter.software) return ok(NAME, `only a software adapter: ${detail}; good for tests, never taken by auto`);
  return ok(NAME, detail);
}

/** What decides how large tensors, workgroups and dispatches may be. */
function limitWords(limits: GpuCheck['adapter']['limits']): string[] {
  return [
    `buffers up to ${formatBytes(limits.maxBufferSize)}`,
    `${formatBytes(limits.maxStorageBufferBindingSize)} of one bound`,
    `workgroups of ${limits.maxComputeInvocationsPerWorkgroup} with ${limits.maxComputeWorkgroupStorageSize / 1024} KiB`,
    `${limits.maxComputeWorkgroupsPerDimension} of them a dimension`,
    `${limits.maxStorageBuffersPerShaderStage} buffers a shader`,
  ];
}

/** Optional features that kernels or measurements could use, of now or later. */
const FEATURES = [
  ...['shader-f16', 'subgroups', 'subgroup-size-control'],
  ...['chromium-experimental-subgroup-matrix', 'timestamp-query'],
];

function featureWords(found: readonly string[]): string {
  const [has, lacks] = [true, false].map((there) => FEATURES.filter((feature) => found.includes(feature) === there));
  return [['has', has] as const, ['lacks', lacks] as const]
    .flatMap(([word, features]) => (features?.length ? [`${word} ${features.join(' ')}`] : []))
    .join(', ');
}

/** Dawn knows an adapter by its name alone. */
function otherAdapters(adapters: readonly string[]): string {
  if (adapters.length < 2) return '';
  const counts = new Map<string, number>();
  for (const adapter of adapters) counts.set(adapter, (counts.get(adapter) ?? 0) + 1);
  const all = [...counts].map(([adapter, count]) => (count === 1 ? adapter : `${count} x ${adapter}`)).join(', ');
  const same = counts.size < adapters.length;
  const only = same ? '; of those with one name WebGPU always takes the first, unless a container shows it one' : '';
  return `; all adapters: ${all} (BRAID_GPU chooses one by a part of its name${only})`;
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
      `${remedy} In a container, the driver needs NVIDIA_DRIVER_CAPABILITIES=all.`.trim(),
    );
  if (['NO_GPU', 'NO_WEBGPU', 'GPU_TOO_SMALL'].includes(code)) return ok(NAME, `${message}. Not needed. ${remedy}`);
  return warn(NAME, message, remedy);
}
