/** Summary of greedy replies: the mean reward and each component, with 95 % intervals. Pure. */
import { inputError } from '../../errors.ts';
import { hashString, randomStream } from '../../random.ts';
import { replyTask } from '../../tasks/reply/task.ts';
import { bootstrapMean, type Interval } from '../../text/intervals.ts';
import type { EvaluationItem } from '../../trainer/events.ts';

/** One reply with its metrics: reward, the six components, overlap with the human reply, words. */
export type ScoredReply = EvaluationItem;

/** An evaluation of replies; field names as in `--json`. */
export interface ReplySummary {
  readonly n: number;
  readonly mean_reward: number;
  readonly low: number;
  readonly high: number;
  /** Every metric but the reward, by name. */
  readonly measures: Readonly<Record<string, Interval>>;
}

/** Summarises an evaluation; the seed determines the bootstrap. NaN values are excluded from their mean. */
export function summarizeReplies(items: readonly ScoredReply[], seed = 42): ReplySummary {
  if (items.length === 0) throw inputError('NOTHING_SCORED', 'Expected at least one scored reply, got none');
  const names = [...new Set(items.flatMap(({ metrics }) => Object.keys(metrics)))];
  const intervals = new Map(names.map((name) => [name, intervalOf(items, name, seed)]));
  const { mean, low, high } = intervals.get(replyTask.mainMetric) ?? NOTHING;
  intervals.delete(replyTask.mainMetric);
  return { n: items.length, mean_reward: mean, low, high, measures: Object.fromEntries(intervals) };
}

const NOTHING: Interval = { mean: Number.NaN, low: Number.NaN, high: Number.NaN };

function intervalOf(items: readonly ScoredReply[], name: string, seed: number): Interval {
  const values = items.map(({ metrics }) => metrics[name] ?? Number.NaN).filter(Number.isFinite);
  return values.length === 0 ? NOTHING : bootstrapMean(values, randomStream(seed, hashString('bootstrap')).next);
}
