/** The embedded backend: its kernels, and a product that must be right. */
import { existsSync } from 'node:fs';
import { BraidError } from '../../errors.ts';
import type { HostPaths } from '../paths.ts';
import { type JobOptions, runTrainerJob } from '../trainer-job.ts';
import { type Check, fail, ok } from './check.ts';

/** Sums of 256 products of float32 numbers below 1 are off by less than this. */
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
  return fail('Tensor kernels', `expected ${file}, there is none`, 'Build them: node main/tensor/kernels/build.ts');
}

/** Runs in a trainer process, which is checked with it. */
async function checkProduct(
  paths: Pick<HostPaths, 'kernels' | 'trainer'>,
  threads: number,
  options: JobOptions,
): Promise<Check> {
  const name = 'Embedded backend';
  const next = 'Run npm ci again; if it stays, report it with this output.';
  try {
    const job = { kind: 'self-check', backend: 'wasm', threads, kernelsFile: paths.kernels } as const;
    const { value, ...on } = await runTrainerJob(job, paths.trainer, options);
    const detail = `wasm on ${on.threads} threads, ${value.gflops.toFixed(0)} GFLOPS`;
    if (value.error < TOLERANCE) return ok(name, `${detail}, a 256 x 256 product is right`);
    return fail(name, `${detail}, but a 256 x 256 product is off by ${value.error.toPrecision(2)}`, next);
  } catch (error) {
    if (error instanceof BraidError && error.code === 'INTERRUPTED') throw error;
    return fail(name, (error as Error).message, next);
  }
}
