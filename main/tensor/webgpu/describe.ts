/** An adapter in words, and what the environment says about which one to take and how much of it. */
import type { GpuOptions } from './gpu.ts';
import type { AdapterFacts } from './protocol.ts';

/** "NVIDIA GeForce RTX 4090 (570.86.16)": what it is, and its driver as it describes itself. */
export function adapterName({ vendor, architecture, device, description }: AdapterFacts): string {
  // Some drivers leave the device empty or give a bare number.
  const name = [device, `${vendor} ${architecture}`].map((text) => text.trim()).find((text) => /[a-z]{3}/i.test(text));
  const driver = description.trim();
  return `${name ?? 'unnamed GPU'}${driver === '' || driver === name ? '' : ` (${driver})`}`;
}

/**
 * BRAID_GPU names an adapter (a part of its name), BRAID_GPU_MEMORY_MB bounds what is used of its memory, and
 * BRAID_GPU_MATRIX_UNITS=off keeps to its float32 arithmetic.
 */
export function gpuOptions(env: NodeJS.ProcessEnv = process.env): GpuOptions {
  const adapter = env.BRAID_GPU?.trim() || null;
  const megabytes = Number(env.BRAID_GPU_MEMORY_MB);
  const matrixUnits = env.BRAID_GPU_MATRIX_UNITS !== 'off';
  return { adapter, matrixUnits, ...(megabytes > 0 && { budgetBytes: megabytes * 2 ** 20 }) };
}
