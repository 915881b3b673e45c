/** Tests a set-up before it is used: its library may crash the process that loads it. */
import { BraidError } from '../../errors.ts';
import { currentLayout, readManifest } from '../../native/folder.ts';
import { canProbe, type ProbeResult, probeAddon } from '../../native/probe.ts';
import { type JobOptions, runTrainerJob } from '../trainer-process/job.ts';
import type { HostPaths } from '../workspace/paths.ts';

/** Tests the set-up in `folder`/current. Rejects only when interrupted. */
export type TryOut = (folder: string) => Promise<ProbeResult>;

/** In a separate process, or if there can't be one, in a trainer process. */
export function tryOutWith(paths: Pick<HostPaths, 'kernels' | 'trainer'>, options: JobOptions = {}): TryOut {
  return async (folder) =>
    canProbe() ? probeAddon(currentLayout(folder).addon) : tryInTrainer(folder, paths, options);
}

/** Lets a trainer load it and multiply matrices. */
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
