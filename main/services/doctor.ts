/** What this machine can run, group by group. */
import { checkBundled } from './doctor/bundled.ts';
import type { Check } from './doctor/check.ts';
import { checkDesktop } from './doctor/desktop.ts';
import { checkEmbedded } from './doctor/embedded.ts';
import { checkGpu } from './doctor/gpu.ts';
import { checkMachine } from './doctor/machine.ts';
import { checkWorkspace } from './doctor/workspace.ts';
import type { HostPaths } from './paths.ts';
import type { JobOptions } from './trainer-job.ts';
import type { Workspace } from './workspace.ts';

export type { Check } from './doctor/check.ts';
export { type Examined, keepExamined, keptExamined } from './doctor/kept.ts';

export interface DoctorOptions extends JobOptions {
  readonly paths: HostPaths;
  readonly workspace: Workspace;
  /** 0: all cores. */
  readonly threads?: number;
}

/** Runs every check. None of them changes anything. */
export async function examine({ paths, workspace, threads = 0, ...job }: DoctorOptions): Promise<Check[]> {
  return [
    ...checkMachine(),
    ...(await checkEmbedded(paths, threads, job)),
    ...checkBundled(paths),
    ...checkWorkspace(workspace),
    ...(await checkGpu(paths, job)),
    ...checkDesktop(),
  ];
}
