/** Compiles the whole kernel module with V8's optimising compiler up front. */
import { readFile } from 'node:fs/promises';
import v8 from 'node:v8';
import { BraidError } from '../../errors.ts';

/**
 * Reads and compiles the module; some 50 ms. `revectorize` lets V8 merge neighbouring 128-bit operations into 256-bit
 * ones, which its other code never uses; the pass is experimental, so it is on for this module only.
 */
export async function compileKernels(file: string, revectorize: boolean): Promise<WebAssembly.Module> {
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new BraidError('KERNELS_MISSING', `Expected the compiled kernels at ${file}`, {
      cause,
      remedy: 'Build them with: node main/tensor/kernels/build.ts',
    });
  });
  // Without these flags the first seconds of a run would use baseline code, six times slower.
  const flags = ['liftoff', 'wasm-lazy-compilation'];
  for (const flag of flags) v8.setFlagsFromString(`--no-${flag}`);
  if (revectorize) v8.setFlagsFromString('--experimental-wasm-revectorize');
  try {
    return new WebAssembly.Module(bytes);
  } finally {
    for (const flag of flags) v8.setFlagsFromString(`--${flag}`);
    if (revectorize) v8.setFlagsFromString('--no-experimental-wasm-revectorize');
  }
}
