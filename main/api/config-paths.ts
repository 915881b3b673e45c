/** One rule for every procedure that takes a configuration, whole or in part: what of the disk a page may name in it. */

import { importedModels } from '../services/models/imported.ts';
import { isBundled } from '../services/models/resolve.ts';
import { checkpointOfRun } from '../services/runs/from-checkpoint.ts';
import { type TaskPlaces, taskFolder, taskNames } from '../services/tasks/find-task.ts';
import type { HostPaths } from '../services/workspace/paths.ts';
import type { Store } from '../store/index.ts';
import { configFields, fieldMeta } from '../trainer/config.ts';
import type { PathAccess } from './context.ts';

interface Place {
  readonly store: Store;
  readonly paths: Pick<HostPaths, 'resources'>;
}

type Fields = Readonly<Record<string, unknown>>;

const pathFields: readonly string[] = configFields.filter((field) => fieldMeta(field).path === true);

/**
 * Every path that a configuration of a page names: inside the workspace, bundled, or opened by the person. What was
 * `known` already, from when the person had opened it, may stay as it is.
 */
export function checkConfigPaths(config: Fields, access: PathAccess, place: Place, known: Fields = {}): void {
  for (const field of pathFields) {
    const path = config[field];
    if (typeof path !== 'string' || path === known[field] || hasName(field, path, place)) continue;
    access.check(path);
  }
}

/** Names are no paths: of a task, of a bundled or imported model, and of a run of this workspace to start from. */
function hasName(field: string, value: string, { store, paths }: Place): boolean {
  if (field === 'from_checkpoint') return checkpointOfRun(store, value) !== null;
  if (field === 'task') return isTaskName(value, { workspace: store.folder, paths });
  if (field !== 'model') return false;
  return isBundled(value, paths) || importedModels(store).some(({ folder }) => folder === value);
}

/** An unknown name is none of a folder either: whoever looks for the task suggests another. */
function isTaskName(value: string, places: TaskPlaces): boolean {
  return taskNames(places).includes(value) || taskFolder(value, places) === null;
}
