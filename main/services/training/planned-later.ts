/** What is kept of a run that starts later. */
import type { Store } from '../../store/index.ts';
import type { TrainConfig } from '../../trainer/config/config.ts';
import type { EngineAccess } from '../engines/engine-for.ts';
import type { RewardTrust } from '../tasks/reward-access.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { withAbsolutePaths } from './absolute-paths.ts';
import { plannedStart } from './planned-start.ts';

/**
 * The configuration of a run that starts later, perhaps in a process started in another folder: checked as a new run is,
 * with absolute paths.
 */
export function plannedLater(
  store: Store,
  config: TrainConfig,
  paths: HostPaths,
  access?: EngineAccess & RewardTrust,
): TrainConfig {
  plannedStart(store, config, paths, access);
  return withAbsolutePaths(store, config, paths);
}
