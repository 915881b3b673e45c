/** The signal budget of a run of the history, and the next run with one of its settings. */
import type { Store } from '../../../store/index.ts';
import type { PromptGroupRow } from '../../../store/prompt-groups.ts';
import { requireRun } from '../runs.ts';
import { savedConfig } from '../saved-config.ts';
import { type AdvisedRun, changedRun } from '../verdict/advice.ts';
import { type SignalBudget, type SignalSetting, type SignalStep, signalBudget } from './budget.ts';

export type { SignalBudget, SignalSetting } from './budget.ts';

const TIMES = ['time/rollout', 'time/reward', 'time/loss', 'step_time'] as const;

/**
 * What the run's groups taught; null if none is known (SFT, a run of an older version, or no step yet), or if a group
 * of equal rewards teaches as well, by its diversity (polychromic-grpo).
 */
export function runSignal(store: Store, runId: number): SignalBudget | null {
  const config = savedConfig(requireRun(store, runId));
  return config.method === 'grpo' ? signalBudget(stepsOf(store, runId), config) : null;
}

/** The next run: this one's configuration with the setting switched on. Throws if it is in use or can't be used. */
export function signalNext(store: Store, runId: number, setting: SignalSetting): AdvisedRun {
  const saving = runSignal(store, runId)?.savings.find((candidate) => candidate.setting === setting);
  return changedRun(store, runId, saving?.change ?? {}, setting);
}

function stepsOf(store: Store, runId: number): SignalStep[] {
  const bySteps = new Map<number, PromptGroupRow[]>();
  for (const group of store.promptGroups.ofRun(runId)) {
    const groups = bySteps.get(group.step);
    if (groups === undefined) bySteps.set(group.step, [group]);
    else groups.push(group);
  }
  const times = TIMES.map((name) => new Map(store.metrics.series(runId, name).map(({ step, value }) => [step, value])));
  return [...bySteps].map(([step, groups]) => {
    const [rollout = 0, reward = 0, training = 0, total = 0] = times.map((values) => values.get(step) ?? 0);
    return { step, groups, sampling: rollout + reward, training, total };
  });
}
