/** Dataset files that lie in the workspace without the history knowing them: listed, and taken in. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { inputError } from '../../errors.ts';
import { datasetFiles } from '../datasets/files.ts';
import type { Library } from '../library.ts';
import { fromStoredPath } from '../workspace.ts';

export interface FoundFile {
  /** Of the training file, without its ending. */
  readonly name: string;
  readonly file: string;
  readonly bytes: number;
}

type Place = Pick<Library, 'store' | 'workspace'>;

/** Made by the command line elsewhere, copied from another workspace, or written by another program. */
export function foundFiles({ store, workspace }: Place): FoundFile[] {
  if (!existsSync(workspace.datasets)) return [];
  const listed = new Set(store.datasets.list().map(({ file }) => fromStoredPath(store.folder, file)));
  return readdirSync(workspace.datasets, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl') && !entry.name.endsWith('.test.jsonl'))
    .map((entry) => join(workspace.datasets, entry.name))
    .filter((file) => !listed.has(file))
    .map((file) => ({ name: basename(file, '.jsonl'), file, bytes: statSync(file).size }))
    .sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
}

/** Reads every record of such a file and, if all are right, lists it as a dataset. Gives its id. */
export async function takeIn(library: Library, name: string): Promise<number> {
  const found = foundFiles(library).find((file) => file.name === name);
  if (found === undefined)
    throw inputError(
      'DATASET_UNKNOWN',
      `Expected a file ${name}.jsonl in ${library.workspace.datasets} that is not listed yet, there is none`,
      'It may have been removed, or taken in already.',
    );
  const { result } = library.jobs.start('datasets', `Read ${name}`, ({ signal }) =>
    library.workers.run('inspectDataset', datasetFiles(found.file), { signal }),
  );
  const facts = await result;
  const id = library.store.datasets.record({
    ...{ name, file: found.file, ...facts },
    // Whoever made it knows them.
    ...{ seed: 0, template: null, textHash: null },
  });
  library.changes.publish('datasets');
  return id;
}
