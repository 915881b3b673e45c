/** Storing a sweep: checked as far as possible, then all of its trials or none. */
import type { Store } from '../../store/index.ts';
import { parseConfig } from '../../trainer/config/config.ts';
import type { EngineAccess } from '../engines/engine-for.ts';
import { withAbsolutePaths } from '../training/absolute-paths.ts';
import { plannedStart } from '../training/planned-start.ts';
import type { HostPaths } from '../workspace/paths.ts';
import type { SweepDraft } from './draft.ts';
import { storedPlanSchema } from './plan.ts';

/** What decides whether a run can start: each combination is checked once. */
const CHECKED = ['task', 'model', 'dataset', 'eval_dataset', 'from_checkpoint', 'engine', 'reward_weights'] as const;

/** Stores a sweep, paused, its paths absolute. Returns its id. Throws where its plan couldn't be read again. */
export function createSweep(store: Store, draft: SweepDraft, paths: HostPaths, access?: EngineAccess): number {
  const checked = new Set<string>();
  const trials = draft.trials.map((trial) => {
    const config = parseConfig(trial.config, trial.name);
    const key = JSON.stringify(CHECKED.map((field) => config[field]));
    if (!checked.has(key)) plannedStart(store, config, paths, access);
    checked.add(key);
    // Another process may train it, started in another folder.
    return { ...trial, config: withAbsolutePaths(store, config, paths) };
  });
  const plan = storedPlanSchema.parse(draft.plan);
  return store.transaction(() => store.sweeps.add(draft.name, plan, trials));
}
