/** A new task from a bundled one: all of its files, to be changed. */
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { inputError } from '../../errors.ts';
import { writeFolderAtomic } from '../../io/atomic-write.ts';
import { copyContent, copyFolder } from '../../io/copy-file.ts';
import { TASK_FILE } from '../../tasks/folder/definition.ts';
import { checkTaskName } from '../../tasks/folder/source.ts';
import { nativeNames } from '../../tasks/index.ts';
import { didYouMean, nearestName } from '../../text/nearest-name.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { type TaskPlaces, templateNames } from './find-task.ts';
import { makeRecords, makerOf, SERVED, type TemplateSettings } from './make-records.ts';
import { type ServedTask, servedTaskBy, writeServedTask } from './make-served-task.ts';

/** The types of the module 'braid', for editors. */
const TYPES = 'braid.d.ts';

/** The template of a task that names none. */
export const DEFAULT_TEMPLATE = 'exact-match';

interface NewTaskPlaces extends TaskPlaces {
  readonly paths: Pick<HostPaths, 'resources' | 'externalRewards'>;
}

/**
 * Makes the folder: in the workspace's tasks/ for a name, otherwise at the given path. Returns it. `settings`: for a
 * template whose records a program makes.
 */
export async function newTask(
  name: string,
  template: string,
  { workspace, paths }: NewTaskPlaces,
  settings: TemplateSettings = {},
): Promise<string> {
  const known = templateNames(paths);
  if (!known.includes(template))
    throw inputError(
      'TEMPLATE_UNKNOWN',
      `There is no template "${template}"${didYouMean(nearestName(template, known))}`,
      `Templates are ${known.join(', ')}.`,
    );
  const from = join(paths.resources, 'tasks', template);
  const maker = makerOf(from);
  const { python: _, ...asked } = settings;
  if (maker === SERVED && Object.keys(asked).length > 0) {
    newFolder(name, workspace);
    return newServedTask(name, await servedTaskBy(asked, paths.externalRewards), { workspace, paths });
  }
  if (maker !== null)
    return copyTask(name, from, { workspace, paths }, (folder) => makeRecords(folder, maker, settings));
  const [unknown] = Object.keys(settings);
  if (unknown === undefined) return copyTask(name, from, { workspace, paths });
  throw inputError('BAD_OPTION', `The template ${template} has no settings, got "${unknown}"`, 'Leave --set out.');
}

/** The same with the files of an OpenEnv server's task. */
export function newServedTask(name: string, task: ServedTask, { workspace, paths }: TaskPlaces): string {
  const from = join(paths.resources, 'tasks', SERVED);
  return copyTask(name, from, { workspace, paths }, (folder) => writeServedTask(folder, task));
}

/** Where it will be; refuses a name that is taken. */
export function newFolder(name: string, workspace: string): string {
  const isPath = /[\\/]/.test(name);
  const folder = isPath ? resolve(name) : join(workspace, 'tasks', name);
  const own = checkTaskName(basename(folder));
  if (nativeNames.includes(own))
    throw inputError('BAD_TASK_NAME', `"${own}" is a task of Braid's own`, 'Choose another name.');
  if (existsSync(folder)) throw inputError('TASK_EXISTS', `${folder} exists already`, 'Choose another name.');
  return folder;
}

/** The same from the folder of any task; `finish` completes the copy. */
export function copyTask(
  name: string,
  from: string,
  { workspace, paths }: TaskPlaces,
  finish: (folder: string) => void = () => undefined,
): string {
  const folder = newFolder(name, workspace);
  const fill = (temporary: string): void => {
    copyFolder(from, temporary);
    copyContent(join(paths.resources, 'tasks', TYPES), join(temporary, TYPES));
    finish(temporary);
  };
  writeFolderAtomic(folder, fill, { what: 'the task' });
  return folder;
}

/** A task's folder is small: what is larger was chosen by mistake. */
const MOST_ENTRIES = 2000;
const MOST_BYTES = 256 * 2 ** 20;

/** The same from a folder that lies anywhere. Throws if it isn't a task, is too large, or has links, which may lead anywhere. */
export function addTask(name: string, from: string, places: TaskPlaces): string {
  if (!existsSync(join(from, TASK_FILE)))
    throw inputError(
      'NOT_A_TASK',
      `There is no ${TASK_FILE} in ${from}`,
      "Choose a task's own folder: it has task.yaml and, for a reward in TypeScript, reward.ts.",
    );
  const { entries, bytes } = sizeOf(from);
  if (entries <= MOST_ENTRIES && bytes <= MOST_BYTES) return copyTask(name, from, places);
  throw inputError(
    'TASK_TOO_LARGE',
    `${from} has ${entries} files of ${Math.ceil(bytes / 2 ** 20)} MiB; a task may have ${MOST_ENTRIES} of ${MOST_BYTES / 2 ** 20} MiB`,
    'Choose the folder that has task.yaml, and import large records as a dataset.',
  );
}

function sizeOf(folder: string): { readonly entries: number; readonly bytes: number } {
  let [entries, bytes] = [0, 0];
  const waiting = [folder];
  for (let next = waiting.pop(); next !== undefined && entries <= MOST_ENTRIES; next = waiting.pop()) {
    for (const name of readdirSync(next)) {
      const path = join(next, name);
      const stats = lstatSync(path);
      if (stats.isSymbolicLink())
        throw inputError('TASK_HAS_LINK', `${path} is a link`, 'Replace it by the file or folder that it leads to.');
      if (stats.isDirectory()) waiting.push(path);
      entries++;
      bytes += stats.size;
    }
  }
  return { entries, bytes };
}
