/**
 * The four curves to watch during GRPO, under plain names next to TRL's: average reward
 * (`reward`), KL penalty (`kl`), total loss (`loss`), and policy loss, the total without beta × KL. The last is
 * computed here: exact if all tokens have the same weight (dapo, bnpo, cispo, dr_grpo up to its constant) and a step is
 * one micro-batch, otherwise close.
 */
import type { Store } from '../../store/index.ts';
import { requireRun } from './runs.ts';
import { savedConfig } from './saved-config.ts';

export interface WatchedPoint {
  readonly step: number;
  readonly value: number;
}

export interface WatchedSeries {
  readonly name: 'policy_loss' | 'avg_reward' | 'kl_penalty' | 'total_loss';
  /** TRL's metric, or how the curve is computed from them. */
  readonly metric: string;
  /** Means of at most `BUCKETS` buckets of the run, each at its last step. */
  readonly points: readonly WatchedPoint[];
  /** The newest step that has a value; null before the first. */
  readonly step: number | null;
  /** At that step; NaN before the first. */
  readonly now: number;
}

/** Enough for a word-sized curve, however long the run. */
const BUCKETS = 120;

/** The curves of a run; one without points if the run lacks the metric. */
export function watchedSeries(store: Store, runId: number): readonly WatchedSeries[] {
  const { beta } = savedConfig(requireRun(store, runId));
  const range = store.metrics.bounds(runId, 'loss') ?? store.metrics.bounds(runId, 'reward') ?? undefined;
  const buckets = store.metrics.bucketsOf(runId, ['reward', 'kl', 'loss'], BUCKETS, range);
  const newest = store.metrics.latestOf(runId, ['reward', 'kl', 'loss']);
  const at = (name: string): number | null => newest[name]?.step ?? null;
  const now = (name: string): number => newest[name]?.value ?? Number.NaN;
  const curve = (name: string): WatchedPoint[] =>
    (buckets[name] ?? []).map(({ lastStep: step, mean: value }) => ({ step, value }));
  const [reward, kl, loss] = [curve('reward'), curve('kl'), curve('loss')];
  const penalty = new Map(kl.map(({ step, value }) => [step, beta * value]));
  const policy = loss.map(({ step, value }) => ({ step, value: value - (penalty.get(step) ?? 0) }));
  const policyNow = now('loss') - (newest.kl?.step === newest.loss?.step ? beta * now('kl') : 0);
  return [
    { name: 'policy_loss', metric: 'loss − beta × kl', points: policy, step: at('loss'), now: policyNow },
    { name: 'avg_reward', metric: 'reward', points: reward, step: at('reward'), now: now('reward') },
    { name: 'kl_penalty', metric: 'kl', points: kl, step: at('kl'), now: now('kl') },
    { name: 'total_loss', metric: 'loss', points: loss, step: at('loss'), now: now('loss') },
  ];
}

/** By run id, at most `count` bucket means in order; empty for a run without the metric. */
export function sparklines(
  store: Store,
  runIds: readonly number[],
  name: string,
  count: number,
): Readonly<Record<number, readonly number[]>> {
  return Object.fromEntries(runIds.map((id) => [id, store.metrics.buckets(id, name, count).map(({ mean }) => mean)]));
}
