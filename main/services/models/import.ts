/** Importing a Hugging Face folder: used in place, or copied into the workspace. All of its files are read first. */

import { createReadStream, existsSync } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { BraidError, inputError } from '../../errors.ts';
import { hiddenSibling } from '../../io/atomic-write.ts';
import { checkPortableName } from '../../io/foreign-name.ts';
import { renameSettledAsync } from '../../io/rename.ts';
import { readModelFacts } from '../../trainer/memory/model-facts.ts';
import { ADDITIONAL_TEMPLATES, checkSound } from '../../trainer/memory/model-folder.ts';
import type { JobContext } from '../workspace/jobs.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { checkSpace } from './check-space.ts';
import { forgetImported, rememberImported } from './imported-folders.ts';
import { pour } from './pour.ts';

type Host = Pick<OpenWorkspace, 'store' | 'workspace' | 'jobs' | 'changes'>;

export interface ImportedFolder {
  /** The model's reference, valid now or when the job is done. */
  readonly ref: string;
  /** The job that copies or converts; null if nothing is written. */
  readonly jobId: number | null;
}

/** Imports a folder after checking its files; throws if it isn't a usable model. */
export function importModel(host: Host, folder: string, copy: boolean): ImportedFolder {
  // Checks the weights' headers too: report a truncated download now, not when a stage starts.
  readModelFacts({ base: folder, adapter: null, tokenizer: folder });
  if (dirname(folder) === host.workspace.models) return { ref: `workspace:${basename(folder)}`, jobId: null };
  if (copy) return copyIn(host, folder);
  const listed = host.store.transaction(() => rememberImported(host.store, folder));
  host.changes.publish('models');
  checkInPlace(host, listed);
  return { ref: `folder:${listed}`, jobId: null };
}

/** Reading gigabytes takes seconds: the model is listed meanwhile, and removed if it turns out to be damaged. */
function checkInPlace(host: Host, folder: string): void {
  const { result } = host.jobs.start('model-check', `Check ${basename(folder)}`, ({ signal }) =>
    checkSound(folder, signal),
  );
  result.catch((error) => {
    if (!(error instanceof BraidError)) return;
    host.store.transaction(() => forgetImported(host.store, folder));
    host.changes.publish('models');
  });
}

/** The name of a copy, where it is free. */
export function nameOfCopy(models: string, wanted: string): string {
  const name = checkPortableName(wanted, 'BAD_MODEL_NAME');
  refuseTaken(join(models, name));
  return name;
}

function copyIn(host: Host, folder: string): ImportedFolder {
  const name = nameOfCopy(host.workspace.models, basename(folder));
  const target = join(host.workspace.models, name);
  const { id, result } = host.jobs.start('model-import', `Copy ${name}`, (job) => copyFolder(folder, target, job));
  result.then(
    () => host.changes.publish('models'),
    // The list of jobs shows the failure.
    () => undefined,
  );
  return { ref: `workspace:${name}`, jobId: id };
}

/** An existing model is never overwritten. */
export function refuseTaken(target: string): void {
  if (!existsSync(target)) return;
  throw inputError(
    'MODEL_EXISTS',
    `There is already a model at ${target}`,
    'Delete that one first, or rename the folder.',
  );
}

/** Atomic: the folder gets its final name after the last file. */
export async function copyFolder(from: string, target: string, { signal, progress }: JobContext): Promise<void> {
  const temporary = hiddenSibling(target, 'tmp');
  const more = join(from, ADDITIONAL_TEMPLATES);
  const templates = existsSync(more) ? (await readdir(more)).map((name) => join(ADDITIONAL_TEMPLATES, name)) : [];
  const files = (
    await Promise.all(
      [...(await readdir(from)), ...templates].map(async (name) => ({
        name,
        stats: await stat(join(from, name)).catch(() => null),
      })),
    )
  ).filter(({ stats }) => stats?.isFile() === true);
  const total = files.reduce((sum, { stats }) => sum + (stats?.size ?? 0), 0);
  checkSpace(dirname(target), total, basename(target));
  let done = 0;
  const onBytes = (count: number): void => {
    done += count;
    progress(inMebibytes(done, total));
  };
  try {
    await mkdir(templates.length === 0 ? temporary : join(temporary, ADDITIONAL_TEMPLATES), { recursive: true });
    for (const { name } of files)
      await pour(createReadStream(join(from, name)), join(temporary, name), { signal, onBytes });
    await checkSound(temporary, signal);
    refuseTaken(target);
    await renameSettledAsync(temporary, target);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    if (signal.aborted) throw new BraidError('INTERRUPTED', 'Cancelled; no files were kept.');
    throw error;
  }
}

/** Progress in mebibytes, so that the numbers stay readable. */
export function inMebibytes(done: number, total: number) {
  return { done: mebibytes(done), total: mebibytes(total), unit: 'MiB' } as const;
}

function mebibytes(bytes: number): number {
  return Math.round((10 * bytes) / 2 ** 20) / 10;
}
