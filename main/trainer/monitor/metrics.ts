/**
 * TRL 1.13's metrics, under its names, from the data of one generation; and their averaging over the micro-batches
 * and generations of one optimiser step (`_metrics` and `log` of GRPOTrainer). NaN values are excluded from
 * the average, and a metric without values from the step. Metrics of a generation are absent from steps that reuse one.
 *
 * Ours, in addition to TRL's: `groups/dead`, `groups/solved`, `groups/spread`, `completions/unique_ratio`,
 * `completions/identical_groups`, `completions/repetition`.
 */

import type { TaskRecord } from '../../tasks/task.ts';
import { type Advantages, deadGroups, nanStats } from '../advantages/advantages.ts';
import type { GroupOutcome, Metrics } from '../protocol/trainer-events.ts';
import { topFrom } from './collapse-rules.ts';

/** `rewards/<function>/{mean,std}`, `reward`, `reward_std` (of the whole batch), `frac_reward_zero_std`. */
export function rewardMetrics(
  names: readonly string[],
  rewards: readonly (readonly number[])[],
  result: Advantages,
): Metrics {
  const metrics: Record<string, number> = {};
  for (const [k, name] of names.entries()) {
    const stats = nanStats(Float32Array.from(rewards[k] ?? []));
    metrics[`rewards/${name}/mean`] = stats.mean;
    metrics[`rewards/${name}/std`] = stats.std;
  }
  const total = nanStats(result.rewards);
  metrics.reward = total.mean;
  metrics.reward_std = total.std;
  metrics.frac_reward_zero_std = result.fracRewardZeroStd;
  return metrics;
}

/** A group counts as solved if its equal rewards reach this share of the maximum reward. */
const SOLVED_SHARE = 0.98;

/** What each group of a generation had to teach, without groups that have too few scores to say; `prompts`: one per group. */
export function groupOutcomes(
  prompts: readonly { readonly record: TaskRecord }[],
  result: Advantages,
  highestReward: number | null,
): GroupOutcome[] {
  const dead = new Set(deadGroups(result));
  const solved = highestReward === null ? Number.POSITIVE_INFINITY : topFrom(SOLVED_SHARE, highestReward);
  return prompts.flatMap(({ record }, g): GroupOutcome[] => {
    if (Number.isNaN(result.groupStd[g])) return [];
    const reward = result.groupMean[g] ?? Number.NaN;
    return [{ recordId: record.id, outcome: !dead.has(g) ? 'teaches' : reward >= solved ? 'solved' : 'dead', reward }];
  });
}

/**
 * `groups/dead`: share of groups whose rewards are all equal, whatever the advantages are divided by;
 * `groups/solved`: share of groups that are dead because every completion has (nearly) the maximum reward;
 * `groups/spread`: standard deviation of the rewards within a group, mean over groups.
 * Of the groups that were scored; NaN, and so absent from the step, where none was.
 */
export function groupMetrics(groups: readonly GroupOutcome[], { groupStd }: Pick<Advantages, 'groupStd'>): Metrics {
  const share = (outcomes: readonly GroupOutcome['outcome'][]): number =>
    groups.filter(({ outcome }) => outcomes.includes(outcome)).length / groups.length;
  return {
    'groups/dead': share(['dead', 'solved']),
    'groups/solved': share(['solved']),
    'groups/spread': nanStats(groupStd).mean,
  };
}

/** `completions/*`: lengths include the end token; `terminated` rows ended by themselves. */
export function completionMetrics(lengths: ArrayLike<number>, terminated: readonly boolean[]): Metrics {
  const all = Array.from(lengths);
  const ended = all.filter((_, i) => terminated[i] === true);
  const lengthsOf = (values: readonly number[], kind: string): Record<string, number> => ({
    [`completions/mean_${kind}`]: values.reduce((a, b) => a + b, 0) / values.length,
    [`completions/min_${kind}`]: values.reduce((a, b) => Math.min(a, b)),
    [`completions/max_${kind}`]: values.reduce((a, b) => Math.max(a, b)),
  });
  return {
    ...lengthsOf(all, 'length'),
    'completions/clipped_ratio': (all.length - ended.length) / all.length,
    ...lengthsOf(ended.length === 0 ? [0] : ended, 'terminated_length'),
  };
}

/** Tokens of one generation, each prompt counted once per completion, as in TRL's running `num_tokens`. */
export function generationTokens(promptLengths: ArrayLike<number>, completionLengths: ArrayLike<number>): number {
  const sum = (values: ArrayLike<number>): number => Array.from(values).reduce((a, b) => a + b, 0);
  return sum(promptLengths) + sum(completionLengths);
}

/** n-gram length for measuring repetition. */
const NGRAM = 4;

/**
 * Similarity of completions: `completions/unique_ratio` (distinct completions of a group / its size),
 * `completions/identical_groups` (share of groups where all are identical), `completions/repetition` (share of
 * 4-grams that occurred before in their own completion). Rows are token ids, `groupSize` rows a group.
 */
export function diversityMetrics(completions: readonly ArrayLike<number>[], groupSize: number): Metrics {
  const groups = completions.length / groupSize;
  let unique = 0;
  let identical = 0;
  for (let g = 0; g < groups; g++) {
    const texts = new Set(
      completions.slice(g * groupSize, (g + 1) * groupSize).map((ids) => Array.from(ids).join(' ')),
    );
    unique += texts.size / groupSize;
    if (texts.size === 1) identical++;
  }
  const repeated = completions.reduce((sum, ids) => sum + repetition(ids), 0) / completions.length;
  return {
    'completions/unique_ratio': unique / groups,
    'completions/identical_groups': identical / groups,
    'completions/repetition': repeated,
  };
}

function repetition(ids: ArrayLike<number>): number {
  const total = ids.length - NGRAM + 1;
  if (total < 1) return 0;
  const list = Array.from(ids);
  const seen = new Set(Array.from({ length: total }, (_, i) => list.slice(i, i + NGRAM).join(' ')));
  return 1 - seen.size / total;
}

/** Gathers the metrics of one optimiser step and averages them as TRL's `log` does. */
export class StepAccumulator {
  readonly #values = new Map<string, number[]>();
  readonly #fixed = new Map<string, number>();

  /** Adds one value of each metric: of a micro-batch or of a generation. */
  add(metrics: Metrics): void {
    for (const [name, value] of Object.entries(metrics)) {
      const values = this.#values.get(name);
      if (values === undefined) this.#values.set(name, [value]);
      else values.push(value);
    }
  }

  /** Metrics that aren't averages: `loss` (the sum over micro-batches), `grad_norm` … Their NaN is kept as a warning sign. */
  set(metrics: Metrics): void {
    for (const [name, value] of Object.entries(metrics)) this.#fixed.set(name, value);
  }

  /** The step's metrics; empties the collection. */
  take(): Metrics {
    const metrics: Record<string, number> = {};
    for (const [name, values] of this.#values) {
      const valid = values.filter((value) => !Number.isNaN(value));
      if (valid.length > 0) metrics[name] = valid.reduce((a, b) => a + b, 0) / valid.length;
    }
    for (const [name, value] of this.#fixed) metrics[name] = value;
    this.#values.clear();
    this.#fixed.clear();
    return metrics;
  }
}
