/** Advice on a run of the history, and its application to the next run. */

import { BraidError } from '../../../errors.ts';
import type { Store } from '../../../store/index.ts';
import type { MetricPoint } from '../../../store/metrics.ts';
import { taskFacts } from '../../../tasks/index.ts';
import { parseConfig, type TrainConfig } from '../../../trainer/config/config.ts';
import { watchSettings } from '../../../trainer/monitor/watch-settings.ts';
import { runTask } from '../../tasks/run-task.ts';
import { requireRun } from '../runs.ts';
import { savedConfig } from '../saved-config.ts';
import { type Advice, type AdviceOptions, adviceFor, type RunFigures, WINDOW } from './advice-rules.ts';
import { runVerdict } from './run-verdict.ts';

export type { Advice, AdviceRule } from './advice-rules.ts';

/** The recent steps whose time is judged: early steps may have had a different pace. */
const RECENT = 200;

/** The advice for a run. */
export function runAdvice(store: Store, runId: number): readonly Advice[] {
  const { title: verdict } = runVerdict(store, runId);
  const config = runConfig(store, runId);
  return adviceFor(config, figuresOf(store, runId, config.warm_up_steps), {
    verdict,
    ...warmable(store, runId, config),
  });
}

function warmable(store: Store, runId: number, config: TrainConfig): Pick<AdviceOptions, 'warmable'> {
  try {
    const { canWarmUp, highestReward } = watchSettings(config, taskFacts(runTask(store, requireRun(store, runId))));
    return canWarmUp === true ? { warmable: { highestReward } } : {};
  } catch (error) {
    // Of a task that is gone nothing is known; the other advice doesn't need it.
    if (error instanceof BraidError) return {};
    throw error;
  }
}

/** The next run: this one's configuration with the advice applied, and a name that says so. */
export interface AdvisedRun {
  readonly base: TrainConfig;
  readonly change: Partial<TrainConfig>;
  readonly name: string;
}

/** The next run with this advice applied. Throws if the combination is invalid. */
export function adviseNext(store: Store, runId: number, rules: readonly Advice['rule'][]): AdvisedRun {
  const chosen = runAdvice(store, runId).filter(({ rule }) => rules.includes(rule));
  return changedRun(store, runId, Object.assign({}, ...chosen.map((advice) => advice.change)), 'advice');
}

/** The next run with this change; `what` says where it comes from. Throws if the combination is invalid. */
export function changedRun(store: Store, runId: number, change: Partial<TrainConfig>, what: string): AdvisedRun {
  const base = runConfig(store, runId);
  parseConfig({ ...base, ...change }, `run ${runId} with ${what}`);
  return { base, change, name: advisedName(requireRun(store, runId).name, change) };
}

/**
 * `polychromic/seed_42` with a higher beta becomes `polychromic beta 0.04/seed_42`: an experiment of its own, so that
 * seeds of one configuration form one group. Earlier advice on the same field is replaced.
 */
export function advisedName(name: string, change: Partial<TrainConfig>): string {
  const [, experiment = name, seed = ''] = /^(.*?)(\/seed_\d+)?$/.exec(name) ?? [];
  const parts = Object.entries(change).filter(([field]) => field !== 'per_device_train_batch_size');
  const plain = parts.reduce((rest, [field]) => rest.replace(new RegExp(` ${field} \\S+`), ''), experiment);
  return `${[plain, ...parts.map(([field, value]) => `${field} ${value}`)].join(' ')}${seed}`;
}

/** The configuration of a run. */
export function runConfig(store: Store, runId: number): TrainConfig {
  return savedConfig(requireRun(store, runId));
}

/** Summary figures of a long run without reading every step. */
function figuresOf({ metrics }: Store, runId: number, warmUp: number): RunFigures {
  const newest = (name: string, steps: number): readonly number[] => {
    const { from, to } = metrics.bounds(runId, name) ?? { from: 1, to: 0 };
    // Steps of the warm-up sample nothing.
    return numbersOf(metrics.series(runId, name, { from: Math.max(from, warmUp + 1, to - steps + 1), to }));
  };
  const from = metrics.bounds(runId, 'reward')?.from ?? 0;
  return {
    rewards: metrics.overall(runId, 'reward').count,
    firstRewards: numbersOf(metrics.series(runId, 'reward', { from, to: from + WINDOW - 1 })),
    lastRewards: newest('reward', WINDOW),
    spread: metrics.overall(runId, 'reward_std').mean,
    highestKl: metrics.overall(runId, 'kl').max,
    stepTimes: newest('step_time', RECENT),
  };
}

function numbersOf(points: readonly MetricPoint[]): readonly number[] {
  return points.map(({ value }) => value).filter((value) => !Number.isNaN(value));
}
