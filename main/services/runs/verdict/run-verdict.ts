/** The verdict on a run of the history: reads what `verdictOn` judges. */

import { BraidError } from '../../../errors.ts';
import type { Store } from '../../../store/index.ts';
import type { MetricPoint } from '../../../store/metrics.ts';
import { taskFacts } from '../../../tasks/index.ts';
import { stepsSharingGeneration } from '../../../trainer/batching/batching.ts';
import { watchSettings } from '../../../trainer/monitor/watch-settings.ts';
import { runTask } from '../../tasks/run-task.ts';
import { heldOutInput } from '../held-out.ts';
import { requireRun } from '../runs.ts';
import { savedConfig } from '../saved-config.ts';
import { type Verdict, verdictOn } from './verdict.ts';

/** The newest steps that are judged, if each has a generation of its own. */
const LOOK_BACK = 40;
/** Steps whose mean is the initial entropy, as in the collapse watch. */
const START_STEPS = 3;

/** Judges the run's current state. */
export function runVerdict(store: Store, runId: number): Verdict {
  const run = requireRun(store, runId);
  try {
    const config = savedConfig(run, run.name);
    const facts = taskFacts(runTask(store, run));
    const lookBack = LOOK_BACK * stepsSharingGeneration(config);
    const weights = config.reward_weights ?? facts.rewardWeights;
    return verdictOn({
      method: config.method,
      settings: watchSettings(config, facts),
      weights: Object.fromEntries(facts.rewardNames.map((name, k) => [name, weights?.[k] ?? 1])),
      aggregation: config.multi_objective_aggregation,
      steps: store.metrics.after(runId, run.step - lookBack, lookBack),
      rewards: () => finite(store.metrics.series(runId, 'reward')),
      startEntropy: startEntropy(store, runId, config.warm_up_steps),
      ...heldOutInput(store, run),
    });
  } catch (error) {
    if (!(error instanceof BraidError)) throw error;
    // A run of another version: its page must still open.
    const sentences = [`The settings of this run can't be judged by this version: ${error.message}`];
    return { tone: 'quiet', title: 'unknown', sentences, remedy: null };
  }
}

function startEntropy(store: Store, runId: number, after: number): number | null {
  const values = finite(store.metrics.series(runId, 'entropy', { from: after, to: after + START_STEPS }));
  return values.length === 0 ? null : values.reduce((sum, { value }) => sum + value, 0) / values.length;
}

function finite(points: readonly MetricPoint[]): MetricPoint[] {
  return points.filter(({ value }) => Number.isFinite(value));
}
