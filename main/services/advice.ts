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

/** The configuration of the next run: this run's with the advice taken. Refused where it makes no sense together. */
export function applyAdvice(store: Store, runId: number, rules: readonly Advice['rule'][]): TrainConfig {
  const chosen = runAdvice(store, runId).filter(({ rule }) => rules.includes(rule));
  const changes = Object.assign({}, ...chosen.map(({ change }) => change)) as Partial<TrainConfig>;
  return parseConfig({ ...runConfig(store, runId), ...changes }, `run ${runId} with advice`);
}

function runConfig(store: Store, runId: number): TrainConfig {
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
