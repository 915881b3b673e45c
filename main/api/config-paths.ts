/** One rule for every procedure that takes a configuration, whole or in part: what of the disk a page may name in it. */

import { existsSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { fromHome } from '../io/from-home.ts';
import { importedModels } from '../services/models/imported-folders.ts';
import { isBundled, ownModel } from '../services/models/resolve.ts';
import { checkpointOfRun } from '../services/runs/from-checkpoint.ts';
import { isPath } from '../services/runs/is-path.ts';
import { type TaskPlaces, taskFolder, taskNames } from '../services/tasks/find-task.ts';
import type { HostPaths } from '../services/workspace/paths.ts';
import type { Store } from '../store/index.ts';
import { configFields, fieldMeta } from '../trainer/config/config.ts';
import type { PathAccess } from './context.ts';

interface Place {
  readonly store: Store;
  readonly paths: Pick<HostPaths, 'resources'>;
}

type Fields = Readonly<Record<string, unknown>>;

const pathFields: readonly string[] = configFields.filter((field) => fieldMeta(field).path === true);

/**
 * The configuration with each path absolute: a run takes relative ones from the folder in which the process was started,
 * a page from the workspace. Throws for a path that isn't inside the workspace, bundled, or opened by the person; an
 * absolute one that was `known` already, from when the person had opened it, may stay. Names stay names.
 */
export function checkConfigPaths<F extends Fields>(config: F, access: PathAccess, place: Place, known: Fields = {}): F {
  const paths = pathFields.flatMap((field) => {
    const value = config[field];
    // An empty one is for the schema to refuse.
    if (typeof value !== 'string' || value === '' || (value === known[field] && isAbsolute(value))) return [];
    return [[field, allowed(field, value, access, place)] as const];
  });
  return { ...config, ...Object.fromEntries(paths) };
}

function allowed(field: string, value: string, access: PathAccess, place: Place): string {
  if (field === 'from_checkpoint') return allowedStart(value, access, place);
  if (isName(field, value, place)) return value;
  return inWorkspace(field === 'model' ? listedModel(value, place.store.folder) : value, access, place);
}

/** The folder of a model that is named as the list of models names it; a folder of that name comes first. */
function listedModel(name: string, workspace: string): string {
  if (existsSync(resolve(workspace, fromHome(name)))) return name;
  return ownModel(name, { models: join(workspace, 'models') }) ?? name;
}

/** Names aren't paths: of a task, and of a bundled or imported model. */
function isName(field: string, value: string, { store, paths }: Place): boolean {
  if (field === 'task') return isTaskName(value, { workspace: store.folder, paths });
  if (field !== 'model') return false;
  return isBundled(value, paths) || importedModels(store).some(({ folder }) => folder === value);
}

/** An unknown name isn't a folder's either: the search for the task suggests another. */
function isTaskName(value: string, places: TaskPlaces): boolean {
  return taskNames(places).includes(value) || taskFolder(value, places) === null;
}

/**
 * The name of a run, which may still have to be trained, stays one unless a folder where the process was started has it
 * too: the start would find that one if the run was renamed meanwhile.
 */
function allowedStart(value: string, access: PathAccess, place: Place): string {
  const mayBeName = !isPath(value);
  const checkpoint = mayBeName ? checkpointOfRun(place.store, value) : null;
  const isFolderHere = mayBeName && existsSync(resolve(value));
  if (checkpoint !== null) return isFolderHere ? checkpoint : value;
  const path = inWorkspace(value, access, place);
  return mayBeName && !isFolderHere && !existsSync(path) ? value : path;
}

/** Not the real path, which `check` returns: datasets and models are found by the path that the workspace gives them. */
function inWorkspace(value: string, access: PathAccess, { store }: Place): string {
  const path = resolve(store.folder, fromHome(value));
  access.check(path);
  return path;
}
