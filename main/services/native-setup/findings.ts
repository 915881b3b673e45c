/** What a set-up reports first: what a GPU has and what is missing. */
import { formatBytes } from '../../text/format.ts';
import type { GpuFacts } from './machine.ts';
import { type CudaRequirements, cudaRequirements, driverAtLeast } from './requirements.ts';

/** One fact about the machine; `missing` when something would have to be installed before the GPU is used. */
export interface Finding {
  readonly what: 'GPU' | 'driver' | 'CUDA';
  readonly missing: boolean;
  readonly detail: string;
}

/** The findings for a TensorFlow version: no GPU, no driver, an old driver, missing libraries. */
export function findings(facts: GpuFacts, tensorflow: string): readonly Finding[] {
  const needs = cudaRequirements(tensorflow);
  const gpu = gpuFinding(facts);
  if (facts.gpus.length === 0 && facts.devices === 0 && facts.driver === null) return [gpu];
  return [gpu, driverFinding(facts, needs), cudaFinding(facts, needs)];
}

function gpuFinding({ gpus, devices, driver }: GpuFacts): Finding {
  if (gpus.length > 0) {
    const detail = gpus
      .map(({ name, totalBytes }) => (totalBytes === null ? name : `${name}, ${formatBytes(totalBytes)}`))
      .join('; ');
    return { what: 'GPU', missing: false, detail };
  }
  if (devices > 0) return { what: 'GPU', missing: true, detail: `${devices} from NVIDIA, but no working driver` };
  const detail = driver === null ? 'none found' : `driver ${driver} is installed, but nvidia-smi finds no GPU`;
  return { what: 'GPU', missing: driver !== null, detail };
}

function driverFinding({ driver }: GpuFacts, needs: CudaRequirements): Finding {
  if (driver === null) return { what: 'driver', missing: true, detail: `none; ${needs.driver} or newer is needed` };
  if (driverAtLeast(driver, needs.driver)) return { what: 'driver', missing: false, detail: driver };
  const detail = `${driver} is too old for CUDA ${needs.cuda}: ${needs.driver} or newer is needed`;
  return { what: 'driver', missing: true, detail };
}

function cudaFinding({ libraries }: GpuFacts, needs: CudaRequirements): Finding {
  const wanted = `CUDA ${needs.cuda} and cuDNN ${needs.cudnn}`;
  const missing = needs.libraries.filter((name) => !libraries.has(name));
  if (missing.length === 0) return { what: 'CUDA', missing: false, detail: needs.libraries.join(', ') };
  const others = missing.flatMap((name) => otherVersions(name, libraries));
  const instead = others.length === 0 ? '' : `; of another version: ${others.join(', ')}`;
  return { what: 'CUDA', missing: true, detail: `${wanted} needed, missing ${missing.join(', ')}${instead}` };
}

/** Other versions of the same library. */
function otherVersions(name: string, libraries: ReadonlyMap<string, string>): readonly string[] {
  const stem = name.slice(0, name.indexOf('.so') + 3);
  return [...libraries.keys()].filter((file) => file.startsWith(`${stem}.`)).slice(0, 1);
}
