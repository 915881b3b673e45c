/** The opened store: every table's functions, one transaction for many writes, and the end. */
import { dirname, resolve } from 'node:path';
import { openCheckpointsTable } from './checkpoints.ts';
import { openComparisonsTable } from './comparisons.ts';
import { openDatasetsTable } from './datasets.ts';
import { explaining } from './errors.ts';
import { openEvaluationsTable } from './evaluations.ts';
import { openEventsTable } from './events.ts';
import { openMetricsTable } from './metrics.ts';
import { type OpenOptions, openDatabase } from './open.ts';
import { openPromptSetsTable } from './prompt-sets.ts';
import { openRunsTable } from './runs.ts';
import { openSampleFinder } from './sample-finder.ts';
import { openSamplesTable } from './samples.ts';
import { openSettingsTable } from './settings.ts';
import { openStagesTable } from './stages.ts';
import { openTextsTable } from './texts.ts';

export interface StoreOptions extends OpenOptions {
  /** Milliseconds since 1970; tests give their own. */
  readonly now?: () => number;
}

export type Store = ReturnType<typeof openStore>;

/** Opens (or creates) the database at `file` and prepares every statement once. */
export function openStore(file: string, options: StoreOptions = {}) {
  const path = resolve(file);
  const now = options.now ?? Date.now;
  const db = openDatabase(path, options);
  const run = db.transaction((work: () => unknown) => work());
  // SQLite counts up when another connection has committed.
  const dataVersion = (): number => Number(db.pragma('data_version', { simple: true }));
  let seenVersion = dataVersion();

  return {
    file: path,
    /** The folder of the database: the workspace. Stored paths are relative to it. */
    folder: dirname(path),
    now,
    texts: openTextsTable(db, now),
    datasets: openDatasetsTable(db, now),
    stages: openStagesTable(db, now),
    runs: openRunsTable(db, now),
    metrics: openMetricsTable(db),
    samples: openSamplesTable(db),
    sampleFinder: openSampleFinder(db),
    checkpoints: openCheckpointsTable(db, now),
    evaluations: openEvaluationsTable(db, now),
    promptSets: openPromptSetsTable(db, now),
    comparisons: openComparisonsTable(db, now),
    events: openEventsTable(db, now),
    settings: openSettingsTable(db),
    /** All of `work` or none of it; `work` is synchronous, and SQLite's errors come out readable. */
    transaction<T>(work: () => T): T {
      return explaining(path, () => run.immediate(work) as T);
    },
    /** Whether another process has written since this was last asked. */
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
