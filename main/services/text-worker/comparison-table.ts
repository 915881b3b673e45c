/** The table of a comparison: means with intervals, paired differences, corrected significance, winners. */
import { hashString, randomStream } from '../../random.ts';
import { bootstrapDifference, bootstrapMean, type Interval } from '../../text/intervals.ts';
import { holm, signFlipTest } from '../../text/significance.ts';

/** One row: a metric, and which direction is better. */
export interface MeasureInfo {
  readonly name: string;
  readonly label: string;
  /** null: neither direction is better, or nobody has said which. */
  readonly better: Direction;
}

export type Direction = 'higher' | 'lower' | null;

/** A model's metrics, prompt by prompt, all in the same order. */
export interface MeasuredModel {
  readonly name: string;
  readonly prompts: readonly Readonly<Record<string, number>>[];
}

/** Two models on one metric; field names as in the JSON of a comparison. */
export interface PairedDifference {
  readonly from: string;
  readonly to: string;
  /** Mean of `to` minus `from`, prompt by prompt, with its 95% interval. */
  readonly difference: Interval;
  /** Sign-flip test, uncorrected and corrected over the whole table. */
  readonly p: number;
  readonly p_corrected: number;
  readonly significant: boolean;
  /** Prompts on which `to` is higher, equal, lower. */
  readonly wins: number;
  readonly ties: number;
  readonly losses: number;
}

export interface ComparisonRow {
  readonly measure: MeasureInfo;
  /** By model, in their order. */
  readonly means: readonly (Interval & { readonly model: string })[];
  readonly pairs: readonly PairedDifference[];
  /** The model that is significantly better than every other; null if there is none. */
  readonly winner: string | null;
}

/** Significance level after correction. */
export const LEVEL = 0.05;
const TIE = 1e-9;
const SIGN_PATTERNS = 10_000;

export interface TableInput {
  readonly models: readonly MeasuredModel[];
  readonly measures: readonly MeasureInfo[];
  readonly seed: number;
}

/** Every metric for every pair of models. NaN on a prompt excludes that prompt from the row. */
export function comparisonTable({ models, measures, seed }: TableInput): readonly ComparisonRow[] {
  const tests = (measures.length * models.length * (models.length - 1)) / 2;
  // No p is below 1 / (patterns + 1): with fewer, the correction would leave nothing significant in a large table.
  const patterns = Math.max(SIGN_PATTERNS, Math.ceil((2 * tests) / LEVEL));
  const rows = measures.map((measure) => {
    const columns = columnsOf(models, measure.name);
    const means = models.map(({ name }, m) => ({ model: name, ...meanOfColumn(columns[m] ?? [], seed) }));
    return { measure, means, pairs: pairsOf(models, columns, measure.name, { seed, patterns }) };
  });
  const corrected = holm(rows.flatMap(({ pairs }) => pairs.map(({ p }) => p)));
  let next = 0;
  return rows.map(({ measure, means, pairs }) => {
    const judged = pairs.map((pair) => {
      const adjusted = corrected[next++] ?? 1;
      return { ...pair, p_corrected: adjusted, significant: adjusted < LEVEL };
    });
    return { measure, means, pairs: judged, winner: winnerOf(models, measure, judged) };
  });
}

/** A metric of each model over the prompts where every model has it. */
function columnsOf(models: readonly MeasuredModel[], name: string): number[][] {
  const count = models[0]?.prompts.length ?? 0;
  const valueAt = ({ prompts }: MeasuredModel, i: number): number => prompts[i]?.[name] ?? Number.NaN;
  const kept = Array.from({ length: count }, (_, i) => i).filter((i) =>
    models.every((model) => Number.isFinite(valueAt(model, i))),
  );
  return models.map((model) => kept.map((i) => valueAt(model, i)));
}

function meanOfColumn(values: readonly number[], seed: number): Interval {
  if (values.length === 0) return { mean: Number.NaN, low: Number.NaN, high: Number.NaN };
  return bootstrapMean(values, randomStream(seed, hashString('compare-mean')).next);
}

type RawPair = Omit<PairedDifference, 'p_corrected' | 'significant'>;

function pairsOf(
  models: readonly MeasuredModel[],
  columns: readonly number[][],
  measure: string,
  { seed, patterns }: { readonly seed: number; readonly patterns: number },
): RawPair[] {
  return models.flatMap((from, a) =>
    models.slice(a + 1).flatMap((to, offset) => {
      const [before = [], after = []] = [columns[a], columns[a + 1 + offset]];
      if (before.length === 0) return [];
      const gains = after.map((value, i) => value - (before[i] ?? 0));
      const random = randomStream(seed, hashString(measure), a, a + 1 + offset).next;
      return [
        {
          from: from.name,
          to: to.name,
          difference: bootstrapDifference(before, after, random),
          p: signFlipTest(gains, random, { resamples: patterns }),
          wins: gains.filter((gain) => gain > TIE).length,
          ties: gains.filter((gain) => Math.abs(gain) <= TIE).length,
          losses: gains.filter((gain) => gain < -TIE).length,
        },
      ];
    }),
  );
}

/** Better than every other, each time significantly: the best mean alone could be chance. */
function winnerOf(
  models: readonly MeasuredModel[],
  { better }: MeasureInfo,
  pairs: readonly PairedDifference[],
): string | null {
  if (better === null || models.length < 2) return null;
  const sign = better === 'higher' ? 1 : -1;
  const beats = (name: string, { from, to, difference, significant }: PairedDifference): boolean =>
    significant && ((to === name && sign * difference.mean > 0) || (from === name && sign * difference.mean < 0));
  const winner = models.find(({ name }) => {
    const own = pairs.filter(({ from, to }) => from === name || to === name);
    return own.length === models.length - 1 && own.every((pair) => beats(name, pair));
  });
  return winner?.name ?? null;
}
