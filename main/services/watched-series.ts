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
  /** Means of at most `STRETCHES` stretches of the run, each at its last step. */
  readonly points: readonly WatchedPoint[];
  /** At the newest step; NaN before the first. */
  readonly now: number;
}

/** Enough for a curve the size of a word, however long the run. */
const STRETCHES = 120;

/** The curves of a run; one without points where the run has no such number. */
export function watchedSeries(store: Store, runId: number): readonly WatchedSeries[] {
  const { beta } = parseConfig(JSON.parse(requireRun(store, runId).configJson), `run ${runId}`);
  const range = store.metrics.bounds(runId, 'loss') ?? store.metrics.bounds(runId, 'reward') ?? undefined;
  const buckets = store.metrics.bucketsOf(runId, ['reward', 'kl', 'loss'], STRETCHES, range);
  const newest = store.metrics.latestOf(runId, ['reward', 'kl', 'loss']);
  const now = (name: string): number => newest[name]?.value ?? Number.NaN;
  const curve = (name: string): WatchedPoint[] =>
    (buckets[name] ?? []).map(({ lastStep: step, mean: value }) => ({ step, value }));
  const [reward, kl, loss] = [curve('reward'), curve('kl'), curve('loss')];
  const penalty = new Map(kl.map(({ step, value }) => [step, beta * value]));
  const policy = loss.map(({ step, value }) => ({ step, value: value - (penalty.get(step) ?? 0) }));
  const policyNow = now('loss') - (newest.kl?.step === newest.loss?.step ? beta * now('kl') : 0);
  return [
    { name: 'policy_loss', metric: 'loss', points: policy, now: policyNow },
    { name: 'avg_reward', metric: 'reward', points: reward, now: now('reward') },
    { name: 'kl_penalty', metric: 'kl', points: kl, now: now('kl') },
    { name: 'total_loss', metric: 'loss', points: loss, now: now('loss') },
  ];
}
