/** What this machine can run, group by group. */

import { openServerRecords, type ServerRecords } from '../engines/server-records.ts';
import type { JobOptions } from '../trainer-process/job.ts';
import type { HostPaths } from '../workspace/paths.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { checkBundled } from './bundled.ts';
import type { Check } from './check.ts';
import { checkDesktop } from './desktop.ts';
import { checkEmbedded } from './embedded.ts';
import { checkGpu } from './gpu.ts';
import { checkMachine } from './machine.ts';
import { checkServers } from './servers.ts';
import { checkWebGpu } from './webgpu.ts';
import { checkWorkspace } from './workspace.ts';

export type { Check } from './check.ts';
export { cachedReport, cacheReport, type Examined } from './kept.ts';

export interface DoctorOptions extends JobOptions {
  readonly paths: HostPaths;
  readonly workspace: Workspace;
  /** What is known of servers of engines; by default the user's. */
  readonly records?: Pick<ServerRecords, 'list'>;
  /** 0: all cores. */
  readonly threads?: number;
}

/** Runs all checks; none changes anything. */
export async function examine({
  paths,
  workspace,
  records = openServerRecords(),
  threads = 0,
  ...job
}: DoctorOptions): Promise<Check[]> {
  return [
    ...checkMachine(),
    ...(await checkEmbedded(paths, threads, job)),
    ...checkBundled(paths),
    ...checkWorkspace(workspace),
    ...checkServers(records),
    ...(await checkGpu(paths, job)),
    await checkWebGpu(paths, job),
    ...checkDesktop(),
  ];
}
