/** The embedded backend: its kernels, and a test product. */
import { existsSync } from 'node:fs';
import { BraidError } from '../../errors.ts';
import { counted } from '../../text/format.ts';
import { type JobOptions, runTrainerJob } from '../trainer-process/job.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { type Check, fail, ok } from './check.ts';

/** The rounding error of 256 products of float32 numbers below 1 is less than this. */
const TOLERANCE = 1e-3;

export async function checkEmbedded(
  paths: Pick<HostPaths, 'kernels' | 'trainer'>,
  threads: number,
  job: JobOptions = {},
): Promise<Check[]> {
  const kernels = checkKernels(paths.kernels);
  return kernels.status === 'FAIL' ? [kernels] : [kernels, await checkProduct(paths, threads, job)];
}

function checkKernels(file: string): Check {
  if (existsSync(file)) return ok('Tensor kernels', file);
  return fail('Tensor kernels', `${file} is missing`, 'Build them: node main/tensor/kernels/build.ts');
}

/** Runs in a trainer process, which this checks too. */
async function checkProduct(
  paths: Pick<HostPaths, 'kernels' | 'trainer'>,
  threads: number,
  options: JobOptions,
): Promise<Check> {
  const name = 'Embedded backend';
  const next = "Run npm ci again; if that doesn't help, report it with this output.";
  try {
    const job = { kind: 'self-check', backend: 'wasm', threads, kernelsFile: paths.kernels } as const;
    const { value, ...on } = await runTrainerJob(job, paths.trainer, options);
    const detail = `wasm on ${counted(on.threads, 'thread')}, ${value.gflops.toFixed(0)} GFLOPS`;
    if (value.error < TOLERANCE) return ok(name, `${detail}, a 256 x 256 product is correct`);
    return fail(name, `${detail}, but a 256 x 256 product is off by ${value.error.toPrecision(2)}`, next);
  } catch (error) {
    if (error instanceof BraidError && error.code === 'INTERRUPTED') throw error;
    return fail(name, (error as Error).message, next);
  }
}
