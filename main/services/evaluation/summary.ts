/** Summaries of scored completions, and the paired comparison of two models on the same prompts. */
import { inputError } from '../../errors.ts';
import { hashString, randomStream } from '../../random.ts';
import type { Written } from '../../samples/completion.ts';
import { type ScoredPair, scoreByPosition } from '../../tasks/interleave/metrics.ts';
import { bootstrapMean, type Interval, meanOf, NO_INTERVAL, quantile } from '../../text/intervals.ts';

/** Of the bootstrap, so that a score has the same interval each time. */
const SEED = 42;

/** One completion with its metrics. */
export interface ScoredItem extends ScoredPair, Written {
  readonly id: string;
  /** Words per fragment: the stage that the prompt belongs to. */
  readonly words: number;
  readonly alignment: number;
  readonly exact_match: number;
  readonly first_error: number;
}

/** A mean with its 95% bootstrap interval; NaN where nothing has a score. */
export interface MeanWithInterval {
  /** Completions with a score: one whose reward failed has none. */
  readonly n: number;
  readonly mean_alignment: number;
  readonly low: number;
  readonly high: number;
  /** Share of exact matches; 0 of none. */
  readonly exact_match: number;
}

/** The position of the first error, in words of the target. */
export interface FirstErrors {
  /** Completions without an error in the target's words. */
  readonly none: number;
  readonly median: number | null;
  /** How many have their first error at each position. */
  readonly counts: Readonly<Record<number, number>>;
}

/** An evaluation in numbers; field names as in `--json`. */
export interface EvaluationSummary extends MeanWithInterval {
  readonly by_words: Readonly<Record<number, MeanWithInterval>>;
  readonly first_error: FirstErrors;
  /** At each word position, the share of completions that matched the target there. */
  readonly score_by_position: readonly number[];
}

/** Summarises an evaluation; the seed determines the bootstrap. */
export function summarizeEvaluation(items: readonly ScoredItem[], seed = SEED): EvaluationSummary {
  if (items.length === 0) throw inputError('NOTHING_SCORED', 'Expected at least one scored completion, got none');
  const stages = [...new Set(items.map((item) => item.words))].sort((a, b) => a - b);
  const byWords = stages.map(
    (words) =>
      [
        words,
        interval(
          items.filter((item) => item.words === words),
          seed,
        ),
      ] as const,
  );
  return {
    ...interval(items, seed),
    by_words: Object.fromEntries(byWords),
    first_error: firstErrors(items),
    score_by_position: scoreByPosition(items),
  };
}

/** The same for tasks whose targets aren't compared word by word: the mean with its interval, and no positions. */
export function summarizeScores(items: readonly ScoredItem[]): EvaluationSummary {
  const nothing = { by_words: {}, first_error: { none: 0, median: null, counts: {} }, score_by_position: [] };
  return { ...interval(items, SEED), ...nothing };
}

function interval(all: readonly ScoredItem[], seed: number): MeanWithInterval {
  const items = all.filter(hasScore);
  const { mean, low, high } = bootstrapped(
    items.map((item) => item.alignment),
    seed,
    'bootstrap',
  );
  return {
    n: items.length,
    mean_alignment: mean,
    low,
    high,
    exact_match: items.length === 0 ? 0 : meanOf(items.map((item) => item.exact_match)),
  };
}

function bootstrapped(values: readonly number[], seed: number, stream: string): Interval {
  return values.length === 0 ? NO_INTERVAL : bootstrapMean(values, randomStream(seed, hashString(stream)).next);
}

/** Not if its reward failed. */
function hasScore({ alignment }: ScoredItem): boolean {
  return Number.isFinite(alignment);
}

function firstErrors(items: readonly ScoredItem[]): FirstErrors {
  const wrong = items.filter((item) => item.exact_match !== 1);
  const positions = wrong.map((item) => item.first_error).sort((a, b) => a - b);
  const counts: Record<number, number> = {};
  for (const position of positions) counts[position] = (counts[position] ?? 0) + 1;
  return {
    none: items.length - wrong.length,
    median: positions.length === 0 ? null : quantile(positions, 0.5),
    counts,
  };
}

/** A trained model against its baseline on the same prompts. */
export interface Comparison {
  /** Prompts on which both have a score; everything else is over these. */
  readonly n: number;
  readonly baseline: MeanWithInterval;
  readonly trained: MeanWithInterval;
  /** Mean of trained minus baseline, prompt by prompt, with its 95% interval; NaN without a pair. */
  readonly difference: Interval;
  readonly wins: number;
  readonly ties: number;
  readonly losses: number;
}

/** Two scores this close are a tie: they differ by rounding only. */
export const TIE = 1e-9;

/** Compares two evaluations of the same prompts, paired by id. */
export function compareEvaluations(
  baseline: readonly ScoredItem[],
  trained: readonly ScoredItem[],
  seed = SEED,
): Comparison {
  const after = new Map(trained.map((item) => [item.id, item]));
  const pairs = baseline.map((before) => [before, after.get(before.id)] as const);
  const unpaired = pairs.find(([, item]) => item === undefined)?.[0];
  if (unpaired !== undefined || trained.length !== baseline.length || after.size !== trained.length)
    throw inputError(
      'NOT_PAIRED',
      `Expected both evaluations on the same prompts, got ${baseline.length} and ${trained.length}${unpaired === undefined ? '' : `, with "${unpaired.id}" missing from the second`}`,
      'Evaluate both on the same dataset.',
    );
  const scored = pairs.flatMap(([before, item]) =>
    item !== undefined && hasScore(before) && hasScore(item) ? [{ before, item }] : [],
  );
  const gains = scored.map(({ before, item }) => item.alignment - before.alignment);
  return {
    n: gains.length,
    baseline: interval(
      scored.map(({ before }) => before),
      seed,
    ),
    trained: interval(
      scored.map(({ item }) => item),
      seed,
    ),
    difference: bootstrapped(gains, seed, 'difference'),
    wins: gains.filter((gain) => gain > TIE).length,
    ties: gains.filter((gain) => Math.abs(gain) <= TIE).length,
    losses: gains.filter((gain) => gain < -TIE).length,
  };
}
