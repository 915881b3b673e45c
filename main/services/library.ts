/** The workspace's library: its texts, and the datasets made of them. What takes long is done in threads. */
import type { Store } from '../store/index.ts';
import type { Changes } from './changes.ts';
import type { SourceText } from './corpora/source-text.ts';
import type { Jobs } from './jobs.ts';
import { openRecordFiles, type RecordFiles } from './library/record-files.ts';
import { openStagedImports, type StagedImports } from './library/staged-imports.ts';
import { openTextWorkers, type TextWorkers } from './library/workers.ts';
import type { HostPaths } from './paths.ts';
import type { Workspace } from './workspace.ts';

export interface Library {
  readonly store: Store;
  readonly workspace: Workspace;
  readonly paths: Pick<HostPaths, 'datasets' | 'textWorker'>;
  readonly changes: Pick<Changes, 'publish'>;
  readonly jobs: Jobs;
  readonly workers: TextWorkers;
  readonly staged: StagedImports;
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
    records: openRecordFiles(),
    close: () => workers.close(),
  };
}

/** The corpus as a thread takes it: words are counted and hashed there. */
export function corpusOf(store: Pick<Store, 'texts'>): SourceText[] {
  return store.texts.list().map(({ id, title, text, source }) => ({ id: String(id), title, text, source }));
}
