/** Memory that looks free and isn't: other runs of the host are about to take it. */
import type { MemoryUse } from './budget.ts';

/** The environment variable that a host sets for a trainer: bytes of the machine's memory, a comma, and of the GPU's. */
const PROMISED = 'BRAID_PROMISED_BYTES';

/** What a trainer process has to leave to others, as its environment says it. */
export function promisedEnvironment({ host, gpu }: MemoryUse): Readonly<Record<string, string>> {
  return host + gpu === 0 ? {} : { [PROMISED]: `${host},${gpu}` };
}

/** What this process has to leave to others. */
export function promisedToOthers(env: NodeJS.ProcessEnv = process.env): MemoryUse {
  const [host = 0, gpu = 0] = (env[PROMISED] ?? '').split(',').map(Number);
  return { host: host || 0, gpu: gpu || 0 };
}
