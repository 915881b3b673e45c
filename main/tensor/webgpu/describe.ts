/** An adapter in words, and what the environment says about which one to take and how much of it. */
import type { Gpu } from './gpu.ts';
import type { GpuOptions } from './gpu-options.ts';
import type { AdapterFacts } from './protocol.ts';

/** "NVIDIA GeForce RTX 4090 (570.86.16)": what it is, and its driver as it describes itself. */
export function adapterName({ vendor, architecture, device, description }: AdapterFacts): string {
  // Some drivers leave the device empty or give a bare number.
  const name = [device, `${vendor} ${architecture}`].map((text) => text.trim()).find((text) => /[a-z]{3}/i.test(text));
  const driver = description.trim();
  return `${name ?? 'unnamed GPU'}${driver === '' || driver === name ? '' : ` (${driver})`}`;
}

/** "16 × 16 × 16 numbers of float16 in subgroups of 32", and where the adapter's unit isn't the one in use, why. */
export function unitsInWords({
  adapter: { matrixUnit: unit },
  matrixUnit: used,
  attentionByUnits,
}: Pick<Gpu, 'matrixUnit' | 'attentionByUnits'> & { readonly adapter: Pick<AdapterFacts, 'matrixUnit'> }): string {
  if (unit === null) return 'none that the kernels can use';
  const { element, m, n, k, lanes } = unit;
  const what = `${m} × ${n} × ${k} numbers of ${element === 'f16' ? 'float16' : 'float32'} in subgroups of ${lanes}`;
  if (used === null) return `${what}, not used: switched off, or their products were wrong`;
  return attentionByUnits ? what : `${what}, not used for attention, which was wrong by them`;
}

/**
 * BRAID_GPU names an adapter (a part of its name), BRAID_GPU_MEMORY_MB bounds what is used of its memory, and
 * BRAID_GPU_MATRIX_UNITS=off leaves its matrix units out.
 */
export function gpuOptions(env: NodeJS.ProcessEnv = process.env): GpuOptions {
  const adapter = env.BRAID_GPU?.trim() || null;
  const megabytes = Number(env.BRAID_GPU_MEMORY_MB);
  const matrixUnits = env.BRAID_GPU_MATRIX_UNITS !== 'off';
  return { adapter, matrixUnits, ...(megabytes > 0 && { budgetBytes: megabytes * 2 ** 20 }) };
}
