/** Storing a sweep: checked as far as possible, then all of its trials or none. */
import type { Store } from '../../store/index.ts';
import { parseConfig } from '../../trainer/config.ts';
import type { EngineAccess } from '../engines/engine-for.ts';
import { plannedStart } from '../training/training.ts';
import type { HostPaths } from '../workspace/paths.ts';
import type { SweepDraft } from './draft.ts';
import { storedPlanSchema } from './plan.ts';

/** What decides whether a run can start: each combination is checked once. */
const CHECKED = ['task', 'model', 'dataset', 'eval_dataset', 'from_checkpoint', 'engine'] as const;

/** Stores a sweep, paused. Returns its id. Throws where its plan couldn't be read again. */
export function createSweep(store: Store, draft: SweepDraft, paths: HostPaths, access?: EngineAccess): number {
  const checked = new Set<string>();
  for (const { config, name } of draft.trials) {
    const key = JSON.stringify(CHECKED.map((field) => config[field]));
    if (checked.has(key)) continue;
    checked.add(key);
    plannedStart(store, parseConfig(config, name), paths, access);
  }
  const plan = storedPlanSchema.parse(draft.plan);
  return store.transaction(() => store.sweeps.add(draft.name, plan, draft.trials));
}
