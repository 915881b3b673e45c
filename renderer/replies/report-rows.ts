/** A comparison's numbers as its tables show them. Pure. */
import type { ReportView, SeedTable } from '../../main/api/contract/index.ts';
import { methodWords } from './words.ts';

type Pair = ReportView['numbers']['rows'][number]['pairs'][number];

/** One model minus another. */
export interface Difference {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  /** Corrected for multiple comparisons. */
  readonly p: number;
  readonly significant: boolean;
  readonly wins: number;
  readonly ties: number;
  readonly losses: number;
}

/** The other models minus one, whichever way round each pair was compared; null if a metric has no values. */
export function differences(
  pairs: readonly Pair[],
  against: string,
  others: readonly string[],
): readonly (Difference | null)[] {
  return others.map((other) => {
    const same = pairs.find(({ from, to }) => from === against && to === other);
    if (same !== undefined) return { ...same, ...same.difference, p: same.p_corrected };
    const reversed = pairs.find(({ from, to }) => from === other && to === against);
    if (reversed === undefined) return null;
    const { difference, p_corrected: p, significant, wins, ties, losses } = reversed;
    const { mean: centre, low, high } = difference;
    return { mean: -centre, low: -high, high: -low, p, significant, wins: losses, ties, losses: wins };
  });
}

/** A method by its label, any other model by its name. */
export function modelLabel(name: string): string {
  return name in methodWords ? methodWords[name as keyof typeof methodWords].label : name;
}

/** "0.770 ± 0.021"; the mean alone where one seed has a value. */
export function meanOverSeeds({
  mean: centre,
  interval,
}: Pick<SeedTable['rows'][number]['models'][number], 'mean' | 'interval'>): string {
  return interval === null ? mean(centre) : `${mean(centre)} ± ${mean(interval.high - interval.mean)}`;
}

/** Three decimals for shares, one for larger values. JSON has no NaN, so a mean over nothing is null. */
export function mean(value: number | null): string {
  if (value === null) return '–';
  return value.toFixed(Math.abs(value) < 10 ? 3 : 1);
}
