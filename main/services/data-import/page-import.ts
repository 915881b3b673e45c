/** Importing records from a page: a file or a dataset of the Hub, its columns mapped, then written. */
import { rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorAbout, inputError } from '../../errors.ts';
import type { ImportOptions, ImportPlan } from '../datasets/import/plan.ts';
import type { Library } from '../library/library.ts';
import type { HubOptions } from '../models/hub-access.ts';
import { findTask } from '../tasks/find-task.ts';
import type { HostPaths } from '../workspace/paths.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { fetchHubDataset } from './hub-download.ts';
import { hubFolderName, parseHubDataset } from './hub-name.ts';
import { importTarget, recordImport } from './import-dataset.ts';
import type { Uploads } from './uploads.ts';

/** How rows become records. */
export interface PageImport extends Omit<ImportOptions, 'files' | 'testFiles' | 'task'> {
  readonly uploadId: number;
  /** Held-out rows; null: they are split off. */
  readonly testUploadId: number | null;
  readonly task: string;
}

export interface ImportPlace {
  readonly library: Library;
  readonly uploads: Uploads;
  readonly paths: Pick<HostPaths, 'resources'>;
}

function optionsOf({ library, uploads, paths }: ImportPlace, request: PageImport): ImportOptions {
  const { uploadId, testUploadId, task, ...rest } = request;
  return {
    ...rest,
    files: uploads.get(uploadId),
    testFiles: testUploadId === null ? [] : uploads.get(testUploadId),
    task: findTask(task, { workspace: library.store.folder, paths }),
  };
}

/** What the import would give. */
export async function previewImport(
  place: ImportPlace,
  request: PageImport,
  signal?: AbortSignal,
): Promise<ImportPlan> {
  const options = optionsOf(place, request);
  try {
    return await place.library.workers.run('planImport', options, { signal });
  } catch (error) {
    throw namedByUser(error, options);
  }
}

/** The error with files named as the user knows them: where an upload or a download lies meanwhile says nothing. */
function namedByUser(error: unknown, { files, testFiles }: Pick<ImportOptions, 'files' | 'testFiles'>): unknown {
  return [...files, ...testFiles].reduce((named, file) => errorAbout(named, file, basename(file)), error);
}

/** Writes the dataset and lists it; returns its id. */
export async function runImport(
  place: ImportPlace,
  request: PageImport,
  { name, replace }: { readonly name: string; readonly replace: boolean },
): Promise<number> {
  const { library, uploads } = place;
  const options = optionsOf(place, request);
  const target = importTarget(library, name, replace);
  const title = `Import ${name}`;
  // The name is free until the other one has written its files.
  if (library.jobs.list().some((job) => job.state === 'running' && job.title === title))
    throw inputError(
      'IMPORT_BUSY',
      `${name} is already being imported`,
      'Wait for it to finish, or choose another name.',
    );
  const { result } = library.jobs.start('import', title, ({ signal }) =>
    library.workers.run('writeImport', { ...options, target }, { signal }),
  );
  const written = await result.catch((error) => {
    throw namedByUser(error, options);
  });
  const id = recordImport(library.store, options.task, options.seed, written);
  uploads.drop(request.uploadId);
  if (request.testUploadId !== null) uploads.drop(request.testUploadId);
  removeDownloads(library.workspace, [...options.files, ...options.testFiles]);
  library.changes.publish('datasets');
  library.changes.publish('tasks');
  return id;
}

/** Downloads a split of a dataset in a job; returns the id of its files. */
export async function downloadSplit(
  { library, uploads }: Pick<ImportPlace, 'library' | 'uploads'>,
  { source, split }: { readonly source: string; readonly split: string },
  options: HubOptions,
): Promise<number> {
  const dataset = parseHubDataset(source);
  const folder = join(downloadsOf(library.workspace), hubFolderName(source));
  const { result } = library.jobs.start('dataset-download', `Download ${dataset.repo}, ${split}`, (job) =>
    fetchHubDataset(dataset, split, folder, options, job),
  );
  return uploads.refer(await result);
}

/** Holds a folder for each dataset of the Hub. */
function downloadsOf({ datasets }: Pick<Workspace, 'datasets'>): string {
  return join(datasets, '.hub');
}

/** An imported dataset's download is of no more use. */
function removeDownloads(workspace: Pick<Workspace, 'datasets'>, files: readonly string[]): void {
  for (const folder of new Set(files.map(dirname)))
    if (dirname(folder) === downloadsOf(workspace)) rmSync(folder, { recursive: true, force: true });
}
