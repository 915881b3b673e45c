/** How much memory there is for tensors: the GPU's where one computes, else the machine's. */
import { execFileSync } from 'node:child_process';

/** Bytes that are free now. */
export function freeTensorMemory(onGpu: boolean): number {
  return (onGpu ? freeGpuMemory() : null) ?? process.availableMemory();
}

/** TensorFlow takes the first GPU. Null where nvidia-smi doesn't tell. */
function freeGpuMemory(): number | null {
  try {
    const args = ['--query-gpu=memory.free', '--format=csv,noheader,nounits'];
    const output = execFileSync('nvidia-smi', args, {
      encoding: 'utf8',
      timeout: 10_000,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const mebibytes = Number.parseInt(output, 10);
    return Number.isFinite(mebibytes) ? mebibytes * 2 ** 20 : null;
  } catch {
    // WSL and containers may have a GPU without the tool.
    return null;
  }
}
