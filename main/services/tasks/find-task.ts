/** Finds the task that a configuration names: a native one, a folder of the workspace, a bundled one, or any folder. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { inputError } from '../../errors.ts';
import { TASK_FILE } from '../../tasks/folder/definition.ts';
import { readTaskFolder } from '../../tasks/folder/source.ts';
import { nativeNames, nativeTask, type TaskSource } from '../../tasks/index.ts';
import { didYouMean, nearestName } from '../../text/nearest-name.ts';
import type { HostPaths } from '../workspace/paths.ts';

/** Where tasks are found by name: the workspace, then what comes with Braid. */
export interface TaskPlaces {
  /** The workspace's folder. */
  readonly workspace: string;
  readonly paths: Pick<HostPaths, 'resources'>;
}

/** The task of that name, or in that folder; the error suggests a name. */
export function findTask(task: string, places: TaskPlaces): TaskSource {
  if (nativeTask(task) !== undefined) return task;
  const folder = taskFolder(task, places);
  if (folder !== null) {
    const source = readTaskFolder(folder);
    if (nativeTask(source.name) === undefined) return source;
    throw inputError('BAD_TASK_NAME', `${folder}: "${source.name}" is a task of Braid's own`, 'Rename the folder.');
  }
  const known = taskNames(places);
  throw inputError(
    'UNKNOWN_TASK',
    `There is no task "${task}"${didYouMean(nearestName(task, known))}`,
    `Tasks are ${known.join(', ')}, or a folder with task.yaml; New task makes one.`,
  );
}

/** The folder of a task, by its name or path; null: there is none. */
export function taskFolder(task: string, { workspace, paths }: TaskPlaces): string | null {
  if (isPath(task)) return resolve(task);
  const named = [join(workspace, 'tasks', task), join(paths.resources, 'tasks', task)];
  return [...named.filter(isItsName), resolve(task)].find((folder) => existsSync(join(folder, TASK_FILE))) ?? null;
}

/** Whether a folder is there under that name: Windows and macOS find it in other letters too, Linux won't. */
function isItsName(folder: string): boolean {
  const parent = dirname(folder);
  return existsSync(folder) && readdirSync(parent).includes(basename(folder));
}

/** How a configuration that is kept names a task: a folder by its absolute path, as it may be resumed from anywhere. */
export function taskArgument(task: string, { workspace, paths }: TaskPlaces): string {
  const isNamed = nativeTask(task) !== undefined || taskNames({ workspace, paths }).includes(task);
  return isNamed ? task : resolve(task);
}

/** Every name that `findTask` knows: native, of the workspace, bundled. */
export function taskNames({ workspace, paths }: TaskPlaces): string[] {
  return [...new Set([...nativeNames, ...workspaceTaskNames({ workspace }), ...templateNames(paths)])];
}

/** The tasks of the workspace. */
export function workspaceTaskNames({ workspace }: Pick<TaskPlaces, 'workspace'>): string[] {
  return foldersIn(join(workspace, 'tasks'));
}

/** The bundled tasks, which `task new` starts from. */
export function templateNames({ resources }: Pick<HostPaths, 'resources'>): string[] {
  return foldersIn(join(resources, 'tasks'));
}

function foldersIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.') && existsSync(join(folder, name, TASK_FILE)))
    .sort();
}

function isPath(task: string): boolean {
  return isAbsolute(task) || /[\\/]/.test(task) || task.startsWith('.');
}
