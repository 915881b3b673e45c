/** Advice on a run of the history, and its application to the next run. */
import type { Store } from '../store/index.ts';
import { parseConfig, type TrainConfig } from '../trainer/config.ts';
import type { Metrics } from '../trainer/events.ts';
import { type Advice, type AdviceOptions, adviceFor } from './advice/rules.ts';
import { requireRun } from './runs.ts';

export type { Advice, AdviceRule } from './advice/rules.ts';

const NAMES = ['reward', 'reward_std', 'kl', 'step_time'] as const;

/** What there is to say about a run. */
export function runAdvice(store: Store, runId: number, options: AdviceOptions = {}): readonly Advice[] {
  const config = runConfig(store, runId);
  const names = [...NAMES, ...store.metrics.names(runId).filter((name) => /^rewards\/.+\/mean$/.test(name))];
  return adviceFor(config, stepsOf(store.metrics.seriesOf(runId, names)), options);
}

/** The next run: this one's configuration, what the advice changes in it, and a name that says so. */
export interface AdvisedRun {
  readonly base: TrainConfig;
  readonly change: Partial<TrainConfig>;
  readonly name: string;
}

/** The next run with this advice taken. Refused where it makes no sense together. */
export function adviseNext(store: Store, runId: number, rules: readonly Advice['rule'][]): AdvisedRun {
  const chosen = runAdvice(store, runId).filter(({ rule }) => rules.includes(rule));
  const change = Object.assign({}, ...chosen.map((advice) => advice.change)) as Partial<TrainConfig>;
  const base = runConfig(store, runId);
  parseConfig({ ...base, ...change }, `run ${runId} with advice`);
  return { base, change, name: advisedName(requireRun(store, runId).name, change) };
}

/**
 * `polychromic/seed_42` with a higher beta becomes `polychromic beta 0.04/seed_42`: an experiment of its own, so that
 * seeds of one configuration stay one group. What earlier advice said of the same field is replaced.
 */
export function advisedName(name: string, change: Partial<TrainConfig>): string {
  const [, experiment = name, seed = ''] = /^(.*?)(\/seed_\d+)?$/.exec(name) ?? [];
  const parts = Object.entries(change).filter(([field]) => field !== 'per_device_train_batch_size');
  const plain = parts.reduce((rest, [field]) => rest.replace(new RegExp(` ${field} \\S+`), ''), experiment);
  return `${[plain, ...parts.map(([field, value]) => `${field} ${value}`)].join(' ')}${seed}`;
}

/** The configuration that a run was trained with. */
export function runConfig(store: Store, runId: number): TrainConfig {
  return parseConfig(JSON.parse(requireRun(store, runId).configJson), `run ${runId}`);
}

/** Series by name as one record a step. */
function stepsOf(
  series: Readonly<Record<string, readonly { readonly step: number; readonly value: number }[]>>,
): Metrics[] {
  const steps = new Map<number, Record<string, number>>();
  for (const [name, points] of Object.entries(series)) {
    for (const { step, value } of points) {
      const entry = steps.get(step) ?? {};
      entry[name] = value;
      steps.set(step, entry);
    }
  }
  return [...steps].sort(([a], [b]) => a - b).map(([, metrics]) => metrics);
}
