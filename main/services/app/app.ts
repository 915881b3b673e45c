/** The app without its window: everything that exists while a host has a workspace open. */

import { basename } from 'node:path';
import type { BraidError } from '../../errors.ts';
import { TF32 } from '../../native/gpu-settings.ts';
import { openStore, type Store } from '../../store/index.ts';
import { type LoadedModels, openLoadedModels } from '../chat/loaded-models.ts';
import { openServedModels, type ServedModels } from '../chat/served-models.ts';
import { forgettingAfterStage } from '../curriculum/forgetting-job.ts';
import { openUploads, type Uploads } from '../data-import/uploads.ts';
import { type EngineFile, openEngineFile } from '../engines/engines.ts';
import { openServerRecords, type ServerRecords } from '../engines/server-records.ts';
import { type Library, openLibrary } from '../library/library.ts';
import { openQueue, type RunQueue } from '../queue/queue.ts';
import { openRewardProcess, type RewardProcess } from '../reward-trials/process.ts';
import { openSampledAnswers, type SampledAnswers } from '../reward-trials/sampled-answers.ts';
import { restoreFolders } from '../runs/folder-removal.ts';
import { interruptRun, markAbandonedRuns } from '../runs/runs.ts';
import { openServers, type Servers } from '../servers/servers.ts';
import { watchServers } from '../servers/watch.ts';
import type { KeptModel } from '../serving/kept-model.ts';
import { type ConsentFile, openConsentFile } from '../tasks/consent.ts';
import { adding, type LaunchTrainer, leaving, warning, yielding } from '../trainer-process/channel.ts';
import { type LiveRuns, type LiveWorkspace, openLiveRuns } from '../training/live-runs.ts';
import type { Preflight } from '../training/preflight.ts';
import { noticeEnd, noticeEvent } from '../training/run-notices.ts';
import { type Changes, openChanges } from '../workspace/changes.ts';
import { currentHost, isHostAlive, isOnOtherMachine } from '../workspace/host.ts';
import { openJobs } from '../workspace/jobs.ts';
import { type KeptJob, openKeptJob } from '../workspace/kept-job.ts';
import { sweepLeftovers } from '../workspace/leftovers.ts';
import { lockWorkspace } from '../workspace/lock.ts';
import { type Notices, openNotices } from '../workspace/notices.ts';
import { noteOpened } from '../workspace/origin.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { openSecrets, type Secrets } from '../workspace/secrets.ts';
import { readSettings, type Settings } from '../workspace/settings.ts';
import { logFault } from '../workspace/stray-faults.ts';
import { lostHistory, openWorkspace } from '../workspace/workspace.ts';

export interface App extends LiveWorkspace {
  readonly queue: RunQueue;
  readonly library: Library;
  readonly secrets: Secrets;
  readonly engines: EngineFile;
  /** What the user has agreed to that rewards reach. */
  readonly consents: ConsentFile;
  /** The engines' servers that were started from here. */
  readonly servers: Servers;
  readonly records: ServerRecords;
  /** Tries rewards that are being written. */
  readonly rewards: RewardProcess;
  /** The newest pre-flight check of a stage. */
  readonly preflights: KeptJob<Preflight>;
  readonly sampled: SampledAnswers;
  /** Files of a page that are being imported. */
  readonly uploads: Uploads;
  /** The models of chats that are in memory. */
  readonly chatModels: LoadedModels<KeptModel>;
  /** Those that answer at addresses. */
  readonly served: ServedModels;
  /** Saves and ends all active work, then releases the workspace. */
  close(): Promise<void>;
}

export interface AppOptions {
  readonly workspace?: string | undefined;
  readonly paths: HostPaths;
  /** A description of this app, for a second app that tries to open the workspace. */
  readonly what: string;
  /** Whether the queue is trained although the settings say that it isn't: a person has asked for that. */
  readonly startsQueue?: boolean;
  /** Of the key that marks workspaces which were opened here; by default the user's. */
  readonly keyFile?: string;
  /** Keys and tokens; by default in a file of the user's configuration. */
  readonly secrets?: Secrets;
  /** The user's engines; by default in a file of the user's configuration. */
  readonly engines?: EngineFile;
  /** What the user has agreed to; by default in a file of the user's configuration. */
  readonly consents?: ConsentFile;
  /** What is known of their servers; by default in a folder of the user's configuration. */
  readonly records?: ServerRecords;
}

/** How long a run may take to save when the app ends. */
const GRACE_MS = 120_000;
/** How long a page may be kept waiting by another process's write: longer waits are left to `whenUnlocked`. */
const WAIT_MS = 100;
/** How long a chat's model stays in memory that nobody asks; less while a run could use the memory. */
const IDLE_MS = 300_000;
const IDLE_IN_TRAINING_MS = 30_000;
/** How often to check for writes by other processes (a run on the command line). */
const LOOK_MS = 1000;

/** Opens a workspace for a host; runs left by a dead host are marked as interrupted. */
export function openApp(options: AppOptions): App {
  const {
    workspace: chosen,
    paths: given,
    what,
    startsQueue = false,
    keyFile,
    secrets = openSecrets(),
    engines = openEngineFile(),
    consents = openConsentFile(),
    records = openServerRecords(),
  } = options;
  const workspace = openWorkspace({ workspace: chosen });
  const lock = lockWorkspace(workspace.root, what);
  try {
    const lost = lostHistory(workspace);
    const store = openStore(workspace.database, { waitMs: WAIT_MS });
    restoreFolders(workspace.outputs, new Set(store.runs.list().map(({ folder }) => basename(folder))));
    for (const folder of [workspace.models, workspace.outputs]) void sweepLeftovers(folder, { atStart: true });
    markAbandonedRuns(store);
    const openedBefore = noteOpened(store, keyFile);
    const changes = openChanges();
    const notices = openNotices(changes);
    if (lost !== null) notices.add({ ...lost, severity: 'warning', runId: null });
    const settings = () => ({ ...readSettings(store), ...(startsQueue && { run_queue: true }) });
    const paths: HostPaths = {
      ...given,
      models: workspace.models,
      trainer: leaving(ownTrainer(given.trainer, notices, settings), () => live.promised()),
    };
    const access = { engines, secrets, consents, records };
    const live: LiveRuns = openLiveRuns(store, { paths, changes, settings, access });
    const jobs = openJobs(changes);
    const preflights = openKeptJob<Preflight>(jobs);
    const library = openLibrary({ store, workspace, paths, changes, jobs });
    const afterStage = forgettingAfterStage({ store, paths, changes, notices, jobs, settings });
    const servers = openServers({ records, secrets });
    const endWatch = watchServers(servers, { changes, notices });
    const rewards = openRewardProcess(paths);
    const sampled = openSampledAnswers();
    const uploads = openUploads();
    const chatModels = openLoadedModels<KeptModel>(() => (live.list().length > 0 ? IDLE_IN_TRAINING_MS : IDLE_MS));
    const served = openServedModels(changes);
    live.onStart(() => void chatModels.release());
    const queue = openQueue(store, { paths, live, changes, notices, settings, access, afterStage });
    live.onEvents((runId, events) => {
      for (const event of events) noticeEvent(notices, store, runId, event);
    });
    live.onEnd((outcome) => noticeEnd(notices, store, outcome));
    if (!openedBefore)
      queue.holdWaiting("This workspace hasn't been opened here before: its queue waits until you continue it");
    queue.begin();
    const watchDatabase = openDatabaseWatch(store, notices);
    const publishForeignWrites = openForeignWrites(store, changes);
    const looking = setInterval(() => {
      if (!watchDatabase()) return;
      try {
        publishForeignWrites();
        failLostStages(store, live, changes);
        publishEnded(markKilledRuns(store), changes);
        queue.updateEnded();
        queue.begin();
      } catch (error) {
        // A disk that can't be read for a moment must not end the host; the next check tries again.
        logFault('Checking the database', error);
      }
    }, LOOK_MS).unref();
    let closing: Promise<void> | null = null;
    const end = async (): Promise<void> => {
      clearInterval(looking);
      endWatch();
      queue.close();
      await Promise.all([jobs.close(), served.close().then(chatModels.close), live.close(GRACE_MS)]);
      rewards.close();
      uploads.close();
      await library.close();
      store.close();
      lock.release();
    };
    return {
      workspace,
      paths,
      store,
      changes,
      live,
      queue,
      jobs,
      preflights,
      notices,
      library,
      secrets,
      engines,
      consents,
      servers,
      records,
      rewards,
      sampled,
      uploads,
      chatModels,
      served,
      close: () => (closing ??= end()),
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** The host's trainer as an app launches it: behind its pages, by its settings, with a word about slow backends. */
function ownTrainer(launch: LaunchTrainer, notices: Pick<Notices, 'add'>, settings: () => Settings): LaunchTrainer {
  const reporting = warning(yielding(launch), (said) => warnOfBackend(notices, said));
  return adding(reporting, () => (settings().tf32 ? { [TF32]: '1' } : {}));
}

/** A job has no page of its own, unlike a run: what speaks against its backend is a notice. */
function warnOfBackend(notices: Pick<Notices, 'add'>, message: string): void {
  notices.add({ severity: 'warning', message, remedy: 'Choose the backend auto or wasm instead.', runId: null });
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

/** Of commands on this machine: a long silence of another one may end. */
function markKilledRuns(store: Store): readonly number[] {
  return markAbandonedRuns(store, (run) => isOnOtherMachine(run) || isHostAlive(run, store.now()));
}

function publishEnded(runIds: readonly number[], changes: Changes): void {
  for (const id of runIds) changes.publish('run', id);
  if (runIds.length > 0) changes.publish('runs');
}

/** A command line may write to the same workspace; the page shows changes within a second. */
function openForeignWrites(store: Store, changes: Changes): () => void {
  const openIds = (): readonly number[] => store.runs.list({ states: ['running', 'paused'] }).map(({ id }) => id);
  let before = openIds();
  return () => {
    if (!store.changedElsewhere()) return;
    for (const topic of [
      'runs',
      'datasets',
      'texts',
      'evaluations',
      'stages',
      'sweeps',
      'models',
      'samples',
      'conversations',
      'status',
    ] as const)
      changes.publish(topic);
    const open = openIds();
    // Those that were open after the previous write may have ended with this one.
    for (const id of new Set([...before, ...open])) changes.publish('run', id);
    before = open;
  };
}
