import { isBundled } from '../services/models.ts';
import type { HostPaths } from '../services/paths.ts';
import type { TrainConfig } from '../trainer/config.ts';
import type { PathAccess } from './context.ts';

/** Every path that a configuration of a page names: inside the workspace, bundled, or opened by the person. */
export function checkConfigPaths(config: TrainConfig, access: PathAccess, paths: Pick<HostPaths, 'resources'>): void {
  const model = isBundled(config.model, paths) ? null : config.model;
  for (const path of [model, config.dataset, config.eval_dataset, config.from_checkpoint]) {
    if (path !== null) access.check(path);
  }
}
