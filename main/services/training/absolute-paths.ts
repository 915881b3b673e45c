/** A configuration whose paths mean the same in whichever process trains it. */
import { resolve } from 'node:path';
import type { Store } from '../../store/index.ts';
import type { TrainConfig } from '../../trainer/config/config.ts';
import { inWorkspace } from '../models/starting-model.ts';
import { startArgument } from '../runs/from-checkpoint.ts';
import { taskArgument } from '../tasks/find-task.ts';
import type { HostPaths } from '../workspace/paths.ts';

type Paths = Pick<HostPaths, 'resources' | 'models'>;

/**
 * Relative paths made absolute, from this process's folder. Names stay names: of a task, a bundled model, and of a run to
 * start from, whose newest checkpoint may be a later one by then.
 */
export function withAbsolutePaths(store: Store, config: TrainConfig, paths: Paths): TrainConfig {
  const absolute = (path: string | null): string | null => (path === null ? null : resolve(path));
  return {
    ...config,
    model: inWorkspace(config.model, store.folder, paths),
    task: taskArgument(config.task, { workspace: store.folder, paths }),
    dataset: resolve(config.dataset),
    eval_dataset: absolute(config.eval_dataset),
    relevance_model: absolute(config.relevance_model),
    from_checkpoint: config.from_checkpoint === null ? null : startArgument(store, config.from_checkpoint),
    logging_dir: absolute(config.logging_dir),
  };
}
