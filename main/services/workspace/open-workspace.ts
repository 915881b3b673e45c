/** The open workspace that every capability works on. The app (app/app.ts) adds runs and the queue. */
import type { Store } from '../../store/index.ts';
import type { Changes } from './changes.ts';
import type { Jobs } from './jobs.ts';
import type { Notices } from './notices.ts';
import type { HostPaths } from './paths.ts';
import type { Workspace } from './workspace.ts';

export interface OpenWorkspace {
  readonly workspace: Workspace;
  readonly paths: HostPaths;
  readonly store: Store;
  readonly changes: Changes;
  readonly jobs: Jobs;
  readonly notices: Notices;
}
