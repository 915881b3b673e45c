/** Bringing in a Hugging Face folder: used where it lies, or copied into the workspace. */
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { BraidError, inputError } from '../../errors.ts';
import { readModelFacts } from '../../trainer/model-facts.ts';
import type { App } from '../app.ts';
import type { JobContext } from '../jobs.ts';
import { pour } from './copy-file.ts';
import { checkSpace } from './disk-space.ts';
import { rememberImported } from './imported.ts';

type Host = Pick<App, 'store' | 'workspace' | 'jobs' | 'changes'>;

export interface ImportedFolder {
  /** The model's reference, there already or when the job is done. */
  readonly ref: string;
  /** The copying job; null where nothing is copied. */
  readonly jobId: number | null;
}

/** Takes in a folder after a look at its files; what keeps it from being a model is said. */
export function importModel(host: Host, folder: string, copy: boolean): ImportedFolder {
  // The weights' headers too: a download that was cut off is told of now, not when a stage starts.
  readModelFacts({ base: folder, adapter: null, tokenizer: folder });
  if (dirname(folder) === host.workspace.models) return { ref: `workspace:${basename(folder)}`, jobId: null };
  if (copy) return copyIn(host, folder);
  host.store.transaction(() => rememberImported(host.store, folder));
  host.changes.publish('models');
  return { ref: `folder:${folder}`, jobId: null };
}

function copyIn(host: Host, folder: string): ImportedFolder {
  const name = basename(folder);
  const target = join(host.workspace.models, name);
  refuseTaken(target);
  const { id, result } = host.jobs.start('model-import', `Copy ${name}`, (job) => copyFolder(folder, target, job));
  result.then(
    () => host.changes.publish('models'),
    // The list of jobs tells of the failure.
    () => undefined,
  );
  return { ref: `workspace:${name}`, jobId: id };
}

/** A model that is there is never written over. */
export function refuseTaken(target: string): void {
  if (!existsSync(target)) return;
  throw inputError(
    'MODEL_EXISTS',
    `Expected no model at ${target} yet, but there is one`,
    'Delete that one first, or rename the folder.',
  );
}

/** Whole or not at all: the folder gets its name when the last file is there. */
async function copyFolder(from: string, target: string, { signal, progress }: JobContext): Promise<void> {
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}-0.tmp`);
  const files = (await readdir(from, { withFileTypes: true })).filter((file) => !file.isDirectory());
  const sizes = await Promise.all(files.map(async ({ name }) => (await stat(join(from, name))).size));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  checkSpace(dirname(target), total, basename(target));
  let done = 0;
  const onBytes = (count: number): void => {
    done += count;
    progress(inMebibytes(done, total));
  };
  try {
    await rm(temporary, { recursive: true, force: true });
    await mkdir(temporary, { recursive: true });
    for (const { name } of files)
      await pour(createReadStream(join(from, name)), join(temporary, name), { signal, onBytes });
    refuseTaken(target);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    if (signal.aborted) throw new BraidError('INTERRUPTED', 'Cancelled; nothing of it was kept.');
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
