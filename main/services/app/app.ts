/** The app without its window: everything that exists while a host has a workspace open. */

import type { BraidError } from '../../errors.ts';
import { openStore, type Store } from '../../store/index.ts';
import { forgettingAfterStage } from '../curriculum/forgetting-job.ts';
import { openStageQueue, type StageQueue } from '../curriculum/queue.ts';
import { type Library, openLibrary } from '../library/library.ts';
import { interruptRun, markAbandonedRuns } from '../runs/runs.ts';
import { yielding } from '../trainer-process/channel.ts';
import { type LiveRuns, type LiveWorkspace, openLiveRuns } from '../training/live-runs.ts';
import { recordEnd, recordEvent } from '../training/run-notices.ts';
import { type Changes, openChanges } from '../workspace/changes.ts';
import { currentHost } from '../workspace/host.ts';
import { openJobs } from '../workspace/jobs.ts';
import { lockWorkspace } from '../workspace/lock.ts';
import { type Notices, openNotices } from '../workspace/notices.ts';
import { noteOpened } from '../workspace/origin.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { openSecrets, type Secrets } from '../workspace/secrets.ts';
import { readSettings } from '../workspace/settings.ts';
import { logFault } from '../workspace/stray-faults.ts';
import { lostHistory, openWorkspace } from '../workspace/workspace.ts';

export interface App extends LiveWorkspace {
  readonly queue: StageQueue;
  readonly library: Library;
  readonly secrets: Secrets;
  /** Saves and ends all active work, then releases the workspace. */
  close(): Promise<void>;
}

export interface AppOptions {
  readonly workspace?: string | undefined;
  readonly paths: HostPaths;
  /** A description of this app, for a second app that tries to open the workspace. */
  readonly what: string;
  /** Of the key that marks workspaces which were opened here; by default the user's. */
  readonly keyFile?: string;
  /** Keys and tokens; by default in a file of the user's configuration. */
  readonly secrets?: Secrets;
}

/** How long a run may take to save when the app ends. */
const GRACE_MS = 120_000;
/** How often to check for writes by other processes (a run on the command line). */
const LOOK_MS = 1000;

/** Opens a workspace for a host; runs left by a dead host are marked as interrupted. */
export function openApp(options: AppOptions): App {
  const { workspace: chosen, paths: given, what, keyFile, secrets = openSecrets() } = options;
  const paths = { ...given, trainer: yielding(given.trainer) };
  const workspace = openWorkspace({ workspace: chosen });
  const lock = lockWorkspace(workspace.root, what);
  try {
    const lost = lostHistory(workspace);
    const store = openStore(workspace.database);
    markAbandonedRuns(store);
    const openedBefore = noteOpened(store, keyFile);
    const changes = openChanges();
    const notices = openNotices(changes);
    if (lost !== null) notices.add({ ...lost, severity: 'warning', runId: null });
    const settings = () => readSettings(store);
    const live = openLiveRuns(store, { paths, changes, settings });
    const jobs = openJobs(changes);
    const library = openLibrary({ store, workspace, paths, changes, jobs });
    const afterStage = forgettingAfterStage({ store, paths, changes, notices, jobs, settings });
    const queue = openStageQueue(store, { paths, live, changes, notices, settings, afterStage });
    live.onEvents((runId, events) => {
      for (const event of events) recordEvent(notices, store, runId, event);
    });
    live.onEnd((outcome) => recordEnd(notices, store, outcome));
    if (!openedBefore)
      queue.holdWaiting("This workspace hasn't been opened here before: its queue waits until you continue it");
    queue.begin();
    const watchDatabase = openDatabaseWatch(store, notices);
    const looking = setInterval(() => {
      if (!watchDatabase()) return;
      try {
        publishForeignWrites(store, changes);
        failLostStages(store, live, changes);
        queue.updateEnded();
      } catch (error) {
        // A disk that can't be read for a moment must not end the host; the next check tries again.
        logFault('Checking the database', error);
      }
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
      ...{ workspace, paths, store, changes, live, queue, jobs, notices, library, secrets },
      close: () => (closing ??= end()),
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Reports once that the database was removed or replaced. */
function openDatabaseWatch(store: Store, notices: Pick<Notices, 'add'>): () => boolean {
  let reported = false;
  return () => {
    try {
      store.checkSameFile();
      reported = false;
      return true;
    } catch (error) {
      const { message, remedy = null } = error as BraidError;
      if (!reported) notices.add({ severity: 'error', message, remedy, runId: null });
      reported = true;
      return false;
    }
  };
}

/** A run that ended while the disk was full is still marked as running: its state is updated as soon as possible. */
function failLostStages(store: Store, live: LiveRuns, changes: Changes): void {
  const { pid, hostId } = currentHost();
  for (const run of store.runs.list({ states: ['running', 'paused'] })) {
    if (run.pid !== pid || run.hostId !== hostId || live.get(run.id) !== null) continue;
    try {
      interruptRun(store, run.id, live.lost(run.id) ?? 'Its final state could not be saved to the history');
      changes.publish('run', run.id);
      changes.publish('runs');
    } catch {
      // The disk is still full: the next check tries again.
    }
  }
}

/** A command line may write to the same workspace; the page shows changes within a second. */
function publishForeignWrites(store: Store, changes: Changes): void {
  if (!store.changedElsewhere()) return;
  for (const topic of ['runs', 'datasets', 'texts', 'evaluations', 'stages', 'models', 'samples'] as const)
    changes.publish(topic);
  for (const run of store.runs.list({ states: ['running', 'paused'] })) changes.publish('run', run.id);
}
