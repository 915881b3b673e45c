/** The open store: every table's functions, transactions, and closing. */
import { dirname, resolve } from 'node:path';
import { openCheckpointsTable } from './checkpoints.ts';
import { openComparisonsTable } from './comparisons.ts';
import { openConversationsTable } from './conversations.ts';
import { openDatasetsTable } from './datasets.ts';
import { explaining } from './errors.ts';
import { openEvaluationsTable } from './evaluations.ts';
import { openEventsTable } from './events.ts';
import { openMetricsTable } from './metrics.ts';
import { followMove } from './moved.ts';
import { type Db, type OpenOptions, openDatabase } from './open.ts';
import { openPromptGroupsTable } from './prompt-groups.ts';
import { openPromptSetsTable } from './prompt-sets.ts';
import { openQueueTable } from './queue.ts';
import { openRunsTable } from './runs.ts';
import { openSameFileCheck } from './same-file.ts';
import { openSampleFinder } from './sample-finder.ts';
import { openSamplesTable } from './samples.ts';
import { openSettingsTable } from './settings.ts';
import { openStagesTable } from './stages.ts';
import { openSweepsTable } from './sweeps.ts';
import { openTextsTable } from './texts.ts';

export interface StoreOptions extends OpenOptions {
  /** How long a statement of the open store waits for another process's lock; by default as long as opening it does. */
  readonly waitMs?: number;
  /** Milliseconds since 1970; tests pass their own clock. */
  readonly now?: () => number;
}

export type Store = ReturnType<typeof openStore>;

/** Opens (or creates) the database at `file` and prepares every statement once. */
export function openStore(file: string, options: StoreOptions = {}) {
  const path = resolve(file);
  const now = options.now ?? Date.now;
  const db = openDatabase(path, options);
  try {
    if (options.readOnly !== true) explaining(path, () => followMove(db, path));
    if (options.waitMs !== undefined) db.pragma(`busy_timeout = ${options.waitMs}`);
    return explaining(path, () => prepareStore(db, path, now, options.readOnly ?? false));
  } catch (error) {
    // A statement could not be prepared: a table is gone.
    db.close();
    throw error;
  }
}

function prepareStore(db: Db, path: string, now: () => number, readOnly: boolean) {
  const checkSameFile = openSameFileCheck(path);
  const run = db.transaction((work: () => unknown) => work());
  // SQLite increments this when another connection has committed.
  const dataVersion = (): number => Number(db.pragma('data_version', { simple: true }));
  let seenVersion = dataVersion();
  const changes = db.prepare<[], number>('select total_changes()').pluck();

  return {
    file: path,
    /** The folder of the database: the workspace. Stored paths are relative to it. */
    folder: dirname(path),
    readOnly,
    now,
    texts: openTextsTable(db, now),
    datasets: openDatasetsTable(db, now),
    stages: openStagesTable(db, now),
    queue: openQueueTable(db, now),
    sweeps: openSweepsTable(db, now),
    runs: openRunsTable(db, now),
    metrics: openMetricsTable(db),
    samples: openSamplesTable(db),
    sampleFinder: openSampleFinder(db),
    checkpoints: openCheckpointsTable(db, now),
    evaluations: openEvaluationsTable(db, now),
    promptGroups: openPromptGroupsTable(db),
    promptSets: openPromptSetsTable(db, now),
    comparisons: openComparisonsTable(db, now),
    conversations: openConversationsTable(db, now),
    events: openEventsTable(db, now),
    settings: openSettingsTable(db),
    /**
     * All of `work` or none of it; `work` is synchronous, and SQLite's errors are made readable. Throws if the file is
     * not the one that was opened.
     */
    transaction<T>(work: () => T): T {
      checkSameFile();
      return explaining(path, () => run.immediate(work) as T);
    },
    /** `work` reads one state of the database, whatever other processes write meanwhile. */
    snapshot<T>(work: () => T): T {
      checkSameFile();
      return explaining(path, () => run.deferred(work) as T);
    },
    /** Throws DATABASE_GONE if the file was removed or replaced since it was opened. */
    checkSameFile,
    /** How many rows this process has changed since it was opened. */
    changes: (): number => changes.get() ?? 0,
    /** Whether another process keeps it locked against writing now; doesn't wait. */
    isHeld(): boolean {
      const before = db.pragma('busy_timeout', { simple: true });
      db.pragma('busy_timeout = 0');
      try {
        run.immediate(() => undefined);
        return false;
      } catch {
        return true;
      } finally {
        db.pragma(`busy_timeout = ${before}`);
      }
    },
    /** Whether another process has written since the last call. */
    changedElsewhere(): boolean {
      const before = seenVersion;
      seenVersion = dataVersion();
      return seenVersion !== before;
    },
    close(): void {
      db.close();
    },
  } as const;
}
