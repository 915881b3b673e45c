/** GPU, driver, and the libraries of the native backend. None of them is needed by the embedded default. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Check, ok, warn } from './check.ts';

const LIBRARY_FOLDERS = [
  '/usr/local/cuda/lib64',
  '/usr/lib/x86_64-linux-gnu',
  '/usr/lib/aarch64-linux-gnu',
  '/usr/lib64',
  '/usr/local/lib',
];
const LIBRARIES = ['libcudart', 'libcublas', 'libcudnn', 'libtensorflow'] as const;
const PACKAGE = '@tensorflow/tfjs-node-gpu';

export function checkGpu(): Check[] {
  const gpus = listGpus();
  const driver = driverVersion();
  return [gpuCheck(gpus, driver), libraryCheck(gpus.length > 0), packageCheck(gpus.length > 0)];
}

/** `NVIDIA H200, 143771 MiB, 550.54` and the like, one a GPU. */
function listGpus(): string[] {
  try {
    const args = ['--query-gpu=name,memory.total,driver_version', '--format=csv,noheader'];
    return execFileSync('nvidia-smi', args, { encoding: 'utf8', timeout: 10_000, stdio: ['ignore', 'pipe', 'ignore'] })
      .split('\n')
      .filter((line) => line.trim() !== '');
  } catch {
    // No nvidia-smi, or no GPU that it can reach: both mean none.
    return [];
  }
}

function driverVersion(): string | null {
  try {
    return (
      /Kernel Module\s+(?:for \S+\s+)?(\S+)/.exec(readFileSync('/proc/driver/nvidia/version', 'utf8'))?.[1] ?? 'unknown'
    );
  } catch {
    return null;
  }
}

function gpuCheck(gpus: readonly string[], driver: string | null): Check {
  if (gpus.length > 0) return ok('GPU', `${gpus.join('; ')}${driver === null ? '' : `; kernel driver ${driver}`}`);
  if (driver === null) return ok('GPU', 'none found; models train on the processor');
  return warn(
    'GPU',
    `driver ${driver} is loaded, but nvidia-smi reaches no GPU`,
    "Install the driver's tools (nvidia-smi) of the same version, or restart after a driver update.",
  );
}

function libraryCheck(wanted: boolean): Check {
  const found = LIBRARIES.filter((name) => folders().some((folder) => holds(folder, name)));
  const detail = found.length === 0 ? 'none in the usual places' : found.join(', ');
  if (!wanted || found.length === LIBRARIES.length) return ok('CUDA libraries', detail);
  const missing = LIBRARIES.filter((name) => !found.includes(name)).join(', ');
  return warn('CUDA libraries', `${detail}; missing: ${missing}`, 'Training works without them, on the processor.');
}

function folders(): string[] {
  const own = packageFolder();
  const path = (process.env.LD_LIBRARY_PATH ?? '').split(':').filter((folder) => folder !== '');
  return [...path, ...LIBRARY_FOLDERS, ...(own === null ? [] : [join(own, 'deps/lib')])];
}

function holds(folder: string, library: string): boolean {
  try {
    return readdirSync(folder).some((name) => name.startsWith(`${library}.`) || name.startsWith(`${library}-`));
  } catch {
    // Most of the usual places aren't there.
    return false;
  }
}

function packageCheck(wanted: boolean): Check {
  const folder = packageFolder();
  if (folder === null) {
    if (!wanted) return ok(PACKAGE, 'not installed; not needed without an NVIDIA GPU');
    return warn(PACKAGE, 'not installed, so the GPU is not used', 'Training works without it, on the processor.');
  }
  if (hasAddon(folder)) return ok(PACKAGE, 'installed with its addon');
  return warn(
    PACKAGE,
    'installed, but its addon (tfjs_binding.node) was not built',
    'Run npm rebuild @tensorflow/tfjs-node-gpu where its libraries can be downloaded; training works without it.',
  );
}

function hasAddon(folder: string): boolean {
  const lib = join(folder, 'lib');
  return existsSync(lib) && readdirSync(lib).some((part) => existsSync(join(lib, part, 'tfjs_binding.node')));
}

function packageFolder(): string | null {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`));
  } catch {
    return null;
  }
}
