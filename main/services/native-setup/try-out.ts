/** Tries a set-up before anybody relies on it: its library may end the process that loads it. */
import { BraidError } from '../../errors.ts';
import { currentLayout, readManifest } from '../../native/folder.ts';
import { canProbe, type ProbeResult, probeAddon } from '../../native/probe.ts';
import type { HostPaths } from '../paths.ts';
import { type JobOptions, runTrainerJob } from '../trainer-job.ts';

/** Tries the set-up that stands in `folder`/current. Rejects only when interrupted. */
export type TryOut = (folder: string) => Promise<ProbeResult>;

/** In a process of its own, or where none can be had, in a trainer, which is one. */
export function tryOutWith(paths: Pick<HostPaths, 'kernels' | 'trainer'>, options: JobOptions = {}): TryOut {
  return async (folder) =>
    canProbe() ? probeAddon(currentLayout(folder).addon) : tryInTrainer(folder, paths, options);
}

/** Has a trainer load it and multiply matrices. */
async function tryInTrainer(
  folder: string,
  { kernels, trainer }: Pick<HostPaths, 'kernels' | 'trainer'>,
  options: JobOptions = {},
): Promise<ProbeResult> {
  const job = { kind: 'self-check', backend: 'native', threads: 0, kernelsFile: kernels } as const;
  try {
    const { why } = await runTrainerJob(job, () => trainer({ BRAID_NATIVE: folder }), options);
    const tensorflow = readManifest(currentLayout(folder))?.tensorflow ?? '';
    return { ok: true, facts: { tensorflow, gpu: why.includes('on the GPU'), notes: [] } };
  } catch (error) {
    if (error instanceof BraidError && error.code === 'INTERRUPTED') throw error;
    return { ok: false, problem: { kind: 'crashed', detail: (error as Error).message } };
  }
}
