/** What a process's environment says of memory: what it has to leave to others, and how little it is to use. */
import type { MemoryUse } from './budget.ts';

/** Set by a host for a trainer: bytes of the machine's memory, a comma, and of the GPU's. */
const PROMISED = 'BRAID_PROMISED_BYTES';
/** Bounds activations and caches of everything that leaves it to the machine, in MiB. */
export const ACTIVATION_MB = 'BRAID_ACTIVATION_MEMORY_MB';

/** The environment of a trainer that has to leave so much: other runs of the host are about to take it. */
export function promisedEnvironment({ host, gpu }: MemoryUse): Readonly<Record<string, string>> {
  return host + gpu === 0 ? {} : { [PROMISED]: `${host},${gpu}` };
}

/** What this process has to leave to others, although it looks free. */
export function promisedToOthers(env: NodeJS.ProcessEnv = process.env): MemoryUse {
  const [host = 0, gpu = 0] = (env[PROMISED] ?? '').split(',').map(Number);
  return { host: host || 0, gpu: gpu || 0 };
}

/** MiB for activations and caches where a configuration has no number; null: what is free. */
export function activationBound(env: NodeJS.ProcessEnv = process.env): number | null {
  const megabytes = Number(env[ACTIVATION_MB]);
  return megabytes > 0 ? megabytes : null;
}
