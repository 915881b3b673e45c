/** What the services of models need of the app, on a workspace of its own. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openChanges } from '../../../main/services/workspace/changes.ts';
import { openJobs } from '../../../main/services/workspace/jobs.ts';
import { locateWorkspace } from '../../../main/services/workspace/workspace.ts';
import type { StageRow } from '../../../main/store/stages.ts';
import { temporaryStore } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

export function modelHost() {
  const root = temporaryFolder();
  const workspace = locateWorkspace({ workspace: root });
  mkdirSync(workspace.models);
  const changes = openChanges();
  const live = { get: (_: number): unknown => null };
  return {
    root,
    workspace,
    changes,
    jobs: openJobs(changes),
    store: temporaryStore(root),
    live: live as never,
    startOf: ({ config }: Pick<StageRow, 'config'>) => config,
    paths: { resources: join(import.meta.dirname, '../../../resources') },
  };
}

export type ModelHost = ReturnType<typeof modelHost>;

/** Waits for the newest job's end; gives it. */
export async function jobEnd({ jobs }: Pick<ModelHost, 'jobs'>) {
  while (jobs.list().some(({ state }) => state === 'running')) await new Promise((later) => setTimeout(later, 5));
  return jobs.list()[0];
}
