/** The app at a glance: what is training, what is queued, what the machine has free. */
import { availableParallelism } from 'node:os';
import { knownDiskSpace } from '../../io/disk-space.ts';
import { hostMemory } from '../../io/memory.ts';
import { type GpuMemory, watchGpus } from '../../native/gpu-watch.ts';
import type { Store } from '../../store/index.ts';
import type { QueuePlace } from '../../store/queue.ts';
import { type MachineGpu, seenGpu } from '../doctor/machine-memory.ts';
import type { ServerStatus } from '../servers/servers.ts';
import type { LiveStatus } from '../training/live-status.ts';
import { currentHost, isHostAlive } from '../workspace/host.ts';
import type { JobStatus } from '../workspace/jobs.ts';
import type { Notice } from '../workspace/notices.ts';
import type { App } from './app.ts';

export interface AppStatus {
  /** By this machine's clock: a page may be on another. */
  readonly now: number;
  readonly live: readonly LiveStatus[];
  /** Runs in training that another process owns: a command line, or Braid on another machine with this workspace. */
  readonly elsewhere: readonly RunElsewhere[];
  readonly queued: number;
  /** Why the queue is paused. */
  readonly queueHeld: string | null;
  readonly jobs: readonly JobStatus[];
  readonly notices: readonly Notice[];
  /** Servers that were started from here and may be up. */
  readonly servers: readonly ServerStatus[];
  readonly machine: {
    readonly cores: number;
    readonly memoryBytes: number;
    readonly freeMemoryBytes: number;
    readonly gpus: readonly GpuInSight[];
    /** Of the workspace's disk; null if unknown. */
    readonly diskFreeBytes: number | null;
    readonly diskBytes: number | null;
  };
}

export interface GpuInSight extends Pick<GpuMemory, 'name' | 'freeBytes'> {
  /** null: only what is free, or may be used, is known. */
  readonly totalBytes: number | null;
}

export interface RunElsewhere {
  readonly runId: number;
  readonly name: string;
  readonly state: 'running' | 'paused';
  readonly step: number;
  readonly maxSteps: number;
}

const nvidia = watchGpus();

/** The app's current state. */
export function appStatus({ store, live, queue, jobs, notices, servers, workspace, paths }: App): AppStatus {
  const disk = knownDiskSpace(workspace.root);
  const memory = hostMemory();
  return {
    now: store.now(),
    live: live.list(),
    elsewhere: runsElsewhere(store),
    queued: waiting(store, queue.list()),
    queueHeld: queue.held(),
    jobs: jobs.list(),
    notices: notices.list(),
    servers: servers.list().filter(({ mayBeUp }) => mayBeUp),
    machine: {
      cores: availableParallelism(),
      memoryBytes: memory.totalBytes,
      freeMemoryBytes: memory.freeBytes,
      gpus: gpusInSight(nvidia(), seenGpu(paths)),
      diskFreeBytes: disk?.freeBytes ?? null,
      diskBytes: disk?.totalBytes ?? null,
    },
  };
}

/** NVIDIA's GPUs, which say what they have; else the one that runs would be computed on. */
export function gpusInSight(listed: readonly GpuMemory[], gpu: MachineGpu | null): readonly GpuInSight[] {
  if (listed.length > 0 || gpu === null) return listed;
  return [{ name: gpu.name, freeBytes: gpu.freeBytes, totalBytes: null }];
}

/** How many wait: a running sweep keeps its place in the queue, for its next run. */
function waiting(store: Pick<Store, 'sweeps'>, places: readonly Pick<QueuePlace, 'kind' | 'id'>[]): number {
  return places.filter(({ kind, id }) => kind !== 'sweep' || store.sweeps.get(id)?.state !== 'running').length;
}

/** Runs in training whose process exists and isn't this one. */
export function runsElsewhere(store: Pick<Store, 'runs' | 'now'>, here = currentHost()): readonly RunElsewhere[] {
  return store.runs
    .list({ states: ['running', 'paused'] })
    .filter((run) => run.pid !== here.pid || run.hostId !== here.hostId)
    .filter((run) => isHostAlive(run, store.now()))
    .map(({ id, name, state, step, maxSteps }) => ({
      runId: id,
      name,
      step,
      maxSteps,
      state: state === 'paused' ? 'paused' : 'running',
    }));
}
