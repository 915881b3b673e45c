/**
 * Compiles the AssemblyScript kernels to `out/kernels/kernels.wasm`. Run it as `node main/tensor/kernels/build.ts`
 * (npm `prepare` does); it does nothing when the module is newer than its sources.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = import.meta.dirname;
const sources = path.join(here, 'assembly');

/** Path of the compiled module in a checkout. */
export const kernelsFile = path.resolve(here, '../../../out/kernels/kernels.wasm');

// The module is a guest on the tfjs backend's memory: it imports that memory, and owns no data of its own, which
// would overwrite the host's. 65536 pages are the 4 GiB of a 32-bit address space.
const flags = [
  ...['--runtime', 'stub', '--noAssert', '--use', 'abort='],
  ...['--importMemory', '--noExportMemory', '--sharedMemory', '--maximumMemory', '65536'],
  ...['--enable', 'simd,relaxed-simd,threads', '-O3'],
];

/** Compiles the kernels where they are older than their sources; returns the module's file. */
export function buildKernels(): string {
  if (isFresh()) return kernelsFile;
  const asc = path.resolve(fileURLToPath(import.meta.resolve('assemblyscript/asc')), '../../bin/asc.js');
  mkdirSync(path.dirname(kernelsFile), { recursive: true });
  // Compiled under another name, then renamed, so that a process that starts meanwhile never reads half a module.
  const fresh = `${kernelsFile}.${process.pid}`;
  execFileSync(process.execPath, [asc, path.join(sources, 'index.ts'), '--outFile', fresh, ...flags], {
    stdio: 'inherit',
  });
  renameSync(fresh, kernelsFile);
  return kernelsFile;
}

function isFresh(): boolean {
  if (!existsSync(kernelsFile)) return false;
  const files = [...readdirSync(sources).map((name) => path.join(sources, name)), path.join(here, 'ids.ts')];
  const built = statSync(kernelsFile).mtimeMs;
  return [...files, fileURLToPath(import.meta.url)].every((file) => statSync(file).mtimeMs < built);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildKernels();
