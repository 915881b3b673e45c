/** The workspace's library: its texts, and the datasets generated from them. Long work runs in threads. */
import type { Store } from '../../store/index.ts';
import { openTextWorkers, type TextWorkers } from '../text-worker/workers.ts';
import type { SourceText } from '../texts/source-text.ts';
import { sourceText } from '../texts/stored.ts';
import type { Changes } from '../workspace/changes.ts';
import type { Jobs } from '../workspace/jobs.ts';
import type { HostPaths } from '../workspace/paths.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { openRecordFiles, type RecordFiles } from './record-files.ts';
import { openRemovedTexts, type RemovedTexts } from './removed-texts.ts';
import { openStagedImports, type StagedImports } from './staged-imports.ts';

export interface Library {
  readonly store: Store;
  readonly workspace: Workspace;
  readonly paths: Pick<HostPaths, 'datasets' | 'textWorker' | 'resources'>;
  readonly changes: Pick<Changes, 'publish'>;
  readonly jobs: Jobs;
  readonly workers: TextWorkers;
  readonly staged: StagedImports;
  readonly removed: RemovedTexts;
  readonly records: RecordFiles;
  close(): Promise<void>;
}

/** Opens the library of a workspace. */
export function openLibrary(parts: Pick<Library, 'store' | 'workspace' | 'paths' | 'changes' | 'jobs'>): Library {
  const workers = openTextWorkers(parts.paths.textWorker);
  return {
    ...parts,
    workers,
    staged: openStagedImports(),
    removed: openRemovedTexts(),
    records: openRecordFiles(),
    close: () => workers.close(),
  };
}

/** The corpus as input for a thread, which counts and hashes words. */
export function corpusOf(store: Pick<Store, 'texts'>): SourceText[] {
  return store.texts.list().map(sourceText);
}
