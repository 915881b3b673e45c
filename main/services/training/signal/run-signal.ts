/** The signal budget of a run of the history, and the next run with one of its settings. */
import { BraidError, inputError } from '../../../errors.ts';
import type { Store } from '../../../store/index.ts';
import type { MetricPoint } from '../../../store/metrics.ts';
import type { PromptGroupRow } from '../../../store/prompt-groups.ts';
import type { RunRow } from '../../../store/runs.ts';
import { taskFacts } from '../../../tasks/index.ts';
import { withTaskWeights } from '../../../trainer/config/combinations.ts';
import type { TrainConfig } from '../../../trainer/config/config.ts';
import { requireRun } from '../../runs/runs.ts';
import { savedConfig } from '../../runs/saved-config.ts';
import { type AdvisedRun, changedRun } from '../../runs/verdict/advice.ts';
import { runTask } from '../../tasks/run-task.ts';
import { type SignalBudget, type SignalSetting, signalBudget } from './budget.ts';
import { recordWords } from './record-words.ts';
import type { SignalStep } from './signal-step.ts';

export type { SignalBudget, SignalSetting } from './budget.ts';

const TIMES = ['time/rollout', 'time/reward', 'time/loss', 'step_time'] as const;

/**
 * What the run's groups taught; null if none is known (SFT, a run of an older version, or no step yet), or if a group
 * of equal rewards teaches as well, by its diversity (polychromic-grpo).
 */
export function runSignal(store: Store, runId: number): SignalBudget | null {
  const run = requireRun(store, runId);
  const config = savedConfig(run);
  if (config.method !== 'grpo') return null;
  const steps = stepsOf(store, runId);
  if (steps.length === 0) return null;
  return signalBudget(
    steps,
    weightedConfig(store, run, config),
    () => recordWords(store, run, config.dataset),
    () => hasNegativeReward(store, runId, steps),
  );
}

/** Of what is stored: each group's mean, and the completions of some steps. */
function hasNegativeReward(store: Store, runId: number, steps: readonly SignalStep[]): boolean {
  if (steps.some(({ groups }) => groups.some(({ reward }) => reward < 0))) return true;
  return store.samples.rewardsByStep(runId).some(({ lowest }) => lowest < 0);
}

/** With the weights of its task, unless that can't be read: they rule settings out, too. */
function weightedConfig(store: Store, run: RunRow, config: TrainConfig): TrainConfig {
  try {
    return withTaskWeights(config, taskFacts(runTask(store, run)));
  } catch (error) {
    if (error instanceof BraidError) return config;
    throw error;
  }
}

/** The next run: this one's configuration with the setting switched on. Throws if it is in use or can't be used there. */
export function signalNext(store: Store, runId: number, setting: SignalSetting): AdvisedRun {
  const saving = runSignal(store, runId)?.savings.find((candidate) => candidate.setting === setting);
  if (saving?.change != null) return changedRun(store, runId, saving.change, setting);
  const conflict = saving?.conflict ?? null;
  throw inputError(
    'SIGNAL_SETTING_UNUSABLE',
    `Expected a setting that run ${runId} doesn't use and that would have an effect there, got ${setting}${conflict === null ? '' : `, which ${conflict} rules out`}`,
    'Take one that the signal budget of the run offers.',
  );
}

/** The steps that sampled, each with the times of the steps after it that trained on its completions once more. */
function stepsOf(store: Store, runId: number): SignalStep[] {
  const bySteps = new Map<number, PromptGroupRow[]>();
  for (const group of store.promptGroups.ofRun(runId)) {
    const groups = bySteps.get(group.step);
    if (groups === undefined) bySteps.set(group.step, [group]);
    else groups.push(group);
  }
  if (bySteps.size === 0) return [];
  const sampled = [...bySteps.keys()];
  const [rollout = [], reward = [], training = [], total = []] = TIMES.map((name) =>
    perGeneration(sampled, store.metrics.series(runId, name)),
  );
  return [...bySteps].map(([step, groups], i) => ({
    step,
    groups,
    sampling: (rollout[i] ?? 0) + (reward[i] ?? 0),
    training: training[i] ?? 0,
    total: total[i] ?? 0,
  }));
}

/** Sums of a series from each of these steps up to the next of them; both are in ascending order. */
function perGeneration(steps: readonly number[], points: readonly MetricPoint[]): number[] {
  const sums = steps.map(() => 0);
  let at = -1;
  for (const { step, value } of points) {
    while (at + 1 < steps.length && (steps[at + 1] ?? 0) <= step) at++;
    if (at >= 0 && !Number.isNaN(value)) sums[at] = (sums[at] ?? 0) + value;
  }
  return sums;
}
