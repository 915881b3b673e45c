/** The app at a glance: what is training, what is queued, what the machine has free. */
import { availableParallelism, freemem, totalmem } from 'node:os';
import { knownDiskSpace } from '../../io/disk-space.ts';
import type { LiveStatus } from '../training/live-status.ts';
import type { JobStatus } from '../workspace/jobs.ts';
import type { Notice } from '../workspace/notices.ts';
import type { App } from './app.ts';

export interface AppStatus {
  readonly live: readonly LiveStatus[];
  readonly queued: number;
  /** Why the queue is paused. */
  readonly queueHeld: string | null;
  readonly jobs: readonly JobStatus[];
  readonly notices: readonly Notice[];
  readonly machine: {
    readonly cores: number;
    readonly memoryBytes: number;
    readonly freeMemoryBytes: number;
    /** Of the workspace's disk; null if unknown. */
    readonly diskFreeBytes: number | null;
    readonly diskBytes: number | null;
  };
}

/** The app's current state. */
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
