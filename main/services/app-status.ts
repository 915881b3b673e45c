/** The app at a glance: what trains, what waits, what the machine has left. */
import { availableParallelism, freemem, totalmem } from 'node:os';
import type { App } from './app.ts';
import { knownDiskSpace } from './disk-space.ts';
import type { JobStatus } from './jobs.ts';
import type { LiveStatus } from './live-status.ts';
import type { Notice } from './notices.ts';

export interface AppStatus {
  readonly live: readonly LiveStatus[];
  readonly queued: number;
  /** Why the queue stands still. */
  readonly queueHeld: string | null;
  readonly jobs: readonly JobStatus[];
  readonly notices: readonly Notice[];
  readonly machine: {
    readonly cores: number;
    readonly memoryBytes: number;
    readonly freeMemoryBytes: number;
    /** Of the workspace's disk; null where the system doesn't tell. */
    readonly diskFreeBytes: number | null;
    readonly diskBytes: number | null;
  };
}

/** Where the app stands now. */
export function appStatus({ store, live, queue, jobs, notices, workspace }: App): AppStatus {
  const disk = knownDiskSpace(workspace.root);
  return {
    live: live.list(),
    queued: store.stages.queue().length,
    queueHeld: queue.held(),
    jobs: jobs.list(),
    notices: notices.list(),
    machine: {
      cores: availableParallelism(),
      memoryBytes: totalmem(),
      freeMemoryBytes: freemem(),
      diskFreeBytes: disk?.freeBytes ?? null,
      diskBytes: disk?.totalBytes ?? null,
    },
  };
}
