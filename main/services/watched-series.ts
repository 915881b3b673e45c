/**
 * The four curves that a person watches during reinforcement, under plain names beside TRL's: average reward
 * (`reward`), KL penalty (`kl`), total loss (`loss`), and policy loss, the total without beta × KL. The last is worked
 * out here: exact where all tokens weigh the same (dapo, bnpo, cispo, dr_grpo up to its constant) and a step is one
 * micro-batch, else close.
 */
import type { Store } from '../store/index.ts';
import { parseConfig } from '../trainer/config.ts';
import { requireRun } from './runs.ts';

export interface WatchedPoint {
  readonly step: number;
  readonly value: number;
}

export interface WatchedSeries {
  readonly name: 'policy_loss' | 'avg_reward' | 'kl_penalty' | 'total_loss';
  /** TRL's metric. */
  readonly metric: string;
  readonly points: readonly WatchedPoint[];
}

/** The curves of a run; one without points where the run has no such number. */
export function watchedSeries(store: Store, runId: number): readonly WatchedSeries[] {
  const { beta } = parseConfig(JSON.parse(requireRun(store, runId).configJson), `run ${runId}`);
  const series = store.metrics.seriesOf(runId, ['reward', 'kl', 'loss']);
  const [reward = [], kl = [], loss = []] = [series.reward, series.kl, series.loss];
  const penalty = new Map(kl.map(({ step, value }) => [step, beta * value]));
  const policy = loss.map(({ step, value }) => ({ step, value: value - (penalty.get(step) ?? 0) }));
  return [
    { name: 'policy_loss', metric: 'loss', points: policy },
    { name: 'avg_reward', metric: 'reward', points: reward },
    { name: 'kl_penalty', metric: 'kl', points: kl },
    { name: 'total_loss', metric: 'loss', points: loss },
  ];
}
