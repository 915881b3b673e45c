/** A library on a workspace of its own, with a real thread. */
import { join } from 'node:path';
import { type Library, openLibrary } from '../../../main/services/library/library.ts';
import { openTextWorkers } from '../../../main/services/text-worker/workers.ts';
import { openChanges } from '../../../main/services/workspace/changes.ts';
import { openJobs } from '../../../main/services/workspace/jobs.ts';
import { openWorkspace } from '../../../main/services/workspace/workspace.ts';
import { processPaths } from '../../processes/paths.ts';
import { temporaryStore } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { madeText } from '../texts/made-texts.ts';

export interface TemporaryLibrary extends Library {
  /** Published topics. */
  readonly told: readonly string[];
  /** Texts of these lengths, straight into the store. */
  addTexts(...lengths: readonly number[]): number[];
}

const shipped = processPaths();

/** One thread serves all tests of a process; it keeps none alive. */
const workers = openTextWorkers(shipped.textWorker);

/** Opens it for one test. */
export function temporaryLibrary(changes: Partial<Library['paths']> = {}): TemporaryLibrary {
  const root = temporaryFolder();
  const workspace = openWorkspace({ workspace: root });
  const store = temporaryStore(root);
  const told: string[] = [];
  const publisher = openChanges();
  publisher.listen(({ topic }) => told.push(topic));
  const paths = { ...shipped, ...changes };
  const library = openLibrary({ store, workspace, paths, changes: publisher, jobs: openJobs(publisher) });
  return {
    ...library,
    workers,
    told,
    addTexts: (...lengths) =>
      lengths.map((words, i) => {
        const { title, text, source } = madeText(i, words);
        return store.texts.add({ title, text, source, words }).id;
      }),
  };
}

export function fileOf(library: Library, name: string): string {
  return join(library.workspace.datasets, name);
}
