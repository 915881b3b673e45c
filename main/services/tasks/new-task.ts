/** A new task from a bundled one: all of its files, to be changed. */
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { inputError } from '../../errors.ts';
import { writeFolderAtomic } from '../../io/atomic-write.ts';
import { copyContent, copyFolder } from '../../io/copy-file.ts';
import { checkTaskName } from '../../tasks/folder/source.ts';
import { nativeNames } from '../../tasks/index.ts';
import { didYouMean, nearestName } from '../../text/nearest-name.ts';
import { type TaskPlaces, templateNames } from './find-task.ts';

/** The types of the module 'braid', for editors. */
const TYPES = 'braid.d.ts';

/** The template of a task that names none. */
export const DEFAULT_TEMPLATE = 'exact-match';

/** Makes the folder: in the workspace's tasks/ for a name, otherwise at the given path. Returns it. */
export function newTask(name: string, template: string, { workspace, paths }: TaskPlaces): string {
  const known = templateNames(paths);
  if (!known.includes(template))
    throw inputError(
      'TEMPLATE_UNKNOWN',
      `There is no template "${template}"${didYouMean(nearestName(template, known))}`,
      `Templates are ${known.join(', ')}.`,
    );
  return copyTask(name, join(paths.resources, 'tasks', template), { workspace, paths });
}

/** The same from the folder of any task. */
export function copyTask(name: string, from: string, { workspace, paths }: TaskPlaces): string {
  const isPath = /[\\/]/.test(name);
  const folder = isPath ? resolve(name) : join(workspace, 'tasks', name);
  const own = checkTaskName(basename(folder));
  if (nativeNames.includes(own))
    throw inputError('BAD_TASK_NAME', `"${own}" is a task of Braid's own`, 'Choose another name.');
  if (existsSync(folder)) throw inputError('TASK_EXISTS', `${folder} exists already`, 'Choose another name.');
  const fill = (temporary: string): void => {
    copyFolder(from, temporary);
    copyContent(join(paths.resources, 'tasks', TYPES), join(temporary, TYPES));
  };
  writeFolderAtomic(folder, fill, { what: 'the task' });
  return folder;
}
