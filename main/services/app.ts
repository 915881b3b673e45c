/** The app without its window: everything that lives as long as a host has a workspace open. */
import { openStore, type Store } from '../store/index.ts';
import { type Changes, openChanges } from './changes.ts';
import { forgettingAfterStage } from './forgetting-job.ts';
import { currentHost } from './host.ts';
import { type Jobs, openJobs } from './jobs.ts';
import { type Library, openLibrary } from './library.ts';
import { type LiveRuns, openLiveRuns } from './live-runs.ts';
import { type Notices, openNotices } from './notices.ts';
import type { HostPaths } from './paths.ts';
import { noteEnd, noteEvent } from './run-notices.ts';
import { interruptRun, markAbandonedRuns } from './runs.ts';
import { readSettings } from './settings.ts';
import { openStageQueue, type StageQueue } from './stage-queue.ts';
import { yielding } from './trainer-channel.ts';
import { openWorkspace, type Workspace } from './workspace.ts';
import { lockWorkspace } from './workspace-lock.ts';

export interface App {
  readonly workspace: Workspace;
  readonly paths: HostPaths;
  readonly store: Store;
  readonly changes: Changes;
  readonly live: LiveRuns;
  readonly queue: StageQueue;
  readonly jobs: Jobs;
  readonly library: Library;
  readonly notices: Notices;
  /** Saves and ends all that is at work, then lets go of the workspace. */
  close(): Promise<void>;
}

export interface AppOptions {
  readonly workspace?: string | undefined;
  readonly paths: HostPaths;
  /** What holds the workspace, in words, for a second app that wants it. */
  readonly what: string;
}

/** How long a run may take to save when the app ends. */
const GRACE_MS = 120_000;
/** How often other processes' writes (a run on the command line) are looked for. */
const LOOK_MS = 1000;

/** Opens a workspace for a host; runs that a dead host left are marked as interrupted. */
export function openApp({ workspace: chosen, paths: given, what }: AppOptions): App {
  const paths = { ...given, trainer: yielding(given.trainer) };
  const workspace = openWorkspace({ workspace: chosen });
  const lock = lockWorkspace(workspace.root, what);
  try {
    const store = openStore(workspace.database);
    markAbandonedRuns(store);
    const changes = openChanges();
    const notices = openNotices(changes);
    const settings = () => readSettings(store);
    const live = openLiveRuns(store, { paths, changes, settings });
    const jobs = openJobs(changes);
    const library = openLibrary({ store, workspace, paths, changes, jobs });
    const afterStage = forgettingAfterStage({ store, paths, changes, notices, jobs, settings });
    const queue = openStageQueue(store, { paths, live, changes, notices, settings, afterStage });
    live.onEvents((runId, events) => {
      for (const event of events) noteEvent(notices, store, runId, event);
    });
    live.onEnd((outcome) => noteEnd(notices, store, outcome));
    queue.begin();
    const looking = setInterval(() => {
      tellForeignWrites(store, changes);
      settleLost(store, live, changes);
      queue.settleEnded();
    }, LOOK_MS).unref();
    let closing: Promise<void> | null = null;
    const end = async (): Promise<void> => {
      clearInterval(looking);
      queue.close();
      await Promise.all([jobs.close(), live.close(GRACE_MS)]);
      await library.close();
      store.close();
      lock.release();
    };
    return {
      ...{ workspace, paths, store, changes, live, queue, jobs, notices, library },
      close: () => (closing ??= end()),
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** A run of ours that ended while the disk was full still says that it runs: it is settled as soon as that can be. */
function settleLost(store: Store, live: LiveRuns, changes: Changes): void {
  const { pid, hostId } = currentHost();
  for (const run of store.runs.list({ states: ['running', 'paused'] })) {
    if (run.pid !== pid || run.hostId !== hostId || live.get(run.id) !== null) continue;
    try {
      interruptRun(store, run.id, live.lost(run.id) ?? 'Its end could not be written to the history');
      changes.publish('run', run.id);
      changes.publish('runs');
    } catch {
      // The disk is still full: the next look tries again.
    }
  }
}

/** A command line on the same workspace writes too; the page shows it within a second. */
function tellForeignWrites(store: Store, changes: Changes): void {
  if (!store.changedElsewhere()) return;
  for (const topic of ['runs', 'datasets', 'texts', 'evaluations', 'stages', 'models', 'samples'] as const)
    changes.publish(topic);
  for (const run of store.runs.list({ states: ['running', 'paused'] })) changes.publish('run', run.id);
}
