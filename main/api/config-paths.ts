import { checkpointOfRun } from '../services/from-checkpoint.ts';
import { isBundled } from '../services/models.ts';
import type { HostPaths } from '../services/paths.ts';
import type { Store } from '../store/index.ts';
import type { TrainConfig } from '../trainer/config.ts';
import type { PathAccess } from './context.ts';

interface Place {
  readonly store: Store;
  readonly paths: Pick<HostPaths, 'resources'>;
}

/** Every path that a configuration of a page names: inside the workspace, bundled, or opened by the person. */
export function checkConfigPaths(config: TrainConfig, access: PathAccess, { store, paths }: Place): void {
  const model = isBundled(config.model, paths) ? null : config.model;
  for (const path of [model, config.dataset, config.eval_dataset, config.relevance_model]) {
    if (path !== null) access.check(path);
  }
  checkStart(config.from_checkpoint, access, store);
}

/** A checkpoint to start from is a path like others, or the name of a run of this workspace. */
export function checkStart(start: string | null, access: PathAccess, store: Store): void {
  if (start !== null && checkpointOfRun(store, start) === null) access.check(start);
}
