/** Summary of greedy completions by their reward: its mean and each other metric, with 95% intervals. Pure. */
import { inputError } from '../../errors.ts';
import { hashString, randomStream } from '../../random.ts';
import { bootstrapMean, type Interval, NO_INTERVAL } from '../../text/intervals.ts';
import type { EvaluationItem } from '../../trainer/protocol/trainer-events.ts';

/** One completion with its metrics: the reward, its components, what no reward looks at. */
export type ScoredByReward = EvaluationItem;

/** An evaluation of replies or of a folder's task; field names as in `--json`. */
export interface RewardSummary {
  readonly n: number;
  readonly mean_reward: number;
  readonly low: number;
  readonly high: number;
  /** Every metric but the reward, by name. */
  readonly measures: Readonly<Record<string, Interval>>;
}

/** Summarises an evaluation; the seed determines the bootstrap. NaN values are excluded from their mean. */
export function summarizeRewards(items: readonly ScoredByReward[], seed = 42): RewardSummary {
  if (items.length === 0) throw inputError('NOTHING_SCORED', 'Expected at least one scored completion, got none');
  const names = [...new Set(items.flatMap(({ metrics }) => Object.keys(metrics)))];
  const intervals = new Map(names.map((name) => [name, intervalOf(items, name, seed)]));
  const { mean, low, high } = intervals.get(MAIN_METRIC) ?? NO_INTERVAL;
  intervals.delete(MAIN_METRIC);
  return { n: items.length, mean_reward: mean, low, high, measures: Object.fromEntries(intervals) };
}

/** Of replies and of every folder's task. */
const MAIN_METRIC = 'reward';

function intervalOf(items: readonly ScoredByReward[], name: string, seed: number): Interval {
  const values = items.map(({ metrics }) => metrics[name] ?? Number.NaN).filter(Number.isFinite);
  return values.length === 0 ? NO_INTERVAL : bootstrapMean(values, randomStream(seed, hashString('bootstrap')).next);
}
