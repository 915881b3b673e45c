/** The verdict on a run of the history: reads what `verdictOn` judges. */
import { BraidError } from '../errors.ts';
import type { Store } from '../store/index.ts';
import { taskByName } from '../tasks/index.ts';
import { parseConfig } from '../trainer/config.ts';
import { watchSettings } from '../trainer/watch-settings.ts';
import { requireRun } from './runs.ts';
import { type Verdict, verdictOn } from './verdict.ts';

/** The newest steps that are judged. */
const LOOK_BACK = 40;
/** Steps whose mean is the entropy at the start, as the collapse watch has it. */
const START_STEPS = 3;

/** Judges the run as it stands. */
export function runVerdict(store: Store, runId: number): Verdict {
  const run = requireRun(store, runId);
  try {
    const config = parseConfig(JSON.parse(run.configJson), run.name);
    return verdictOn({
      method: run.method,
      settings: watchSettings(config, taskByName(run.task)),
      steps: store.metrics.after(runId, run.step - LOOK_BACK, LOOK_BACK),
      startEntropy: startEntropy(store, runId),
      evaluations: store.evaluations.ofRun(runId).filter(({ duringTraining }) => duringTraining),
    });
  } catch (error) {
    if (!(error instanceof BraidError)) throw error;
    // A run of another version: its page must open all the same.
    const sentences = [`The settings of this run can't be judged by this version: ${error.message}`];
    return { tone: 'quiet', title: 'unknown', sentences, remedy: null };
  }
}

function startEntropy(store: Store, runId: number): number | null {
  const values = store.metrics
    .series(runId, 'entropy', { from: 0, to: START_STEPS })
    .map(({ value }) => value)
    .filter((value) => Number.isFinite(value));
  return values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length;
}
