/** What a comparison shows, in one sentence: on its own page, on Home and for agents. Pure. */
import { counted, signed } from '../../../text/format.ts';
import type { Comparison } from '../../evaluation/summary.ts';

export interface Compared {
  readonly name: string;
  readonly mean: number | null;
  readonly paired: Comparison | null;
}

/** The model with the highest mean against the baseline, which comes first; null before all are evaluated. */
export function comparisonVerdict([baseline, ...others]: readonly Compared[]): string | null {
  const known = others.flatMap(({ name, mean, paired }) =>
    mean === null || paired === null ? [] : [{ name, mean, gain: paired.difference, n: paired.n }],
  );
  if (baseline?.mean == null || known.length < others.length) return null;
  const [best] = known.toSorted((a, b) => b.mean - a.mean);
  if (best === undefined) return null;
  // Prompts on which both have a score.
  const { n } = best;
  const { mean, low, high } = best.gain;
  const level = known.filter((other) => other !== best && other.mean === best.mean).length;
  const who = level === 0 ? best.name : `${best.name}, like ${level === 1 ? 'one other' : `${level} others`},`;
  const found =
    low > 0
      ? `${who} improves on ${baseline.name}`
      : high < 0
        ? `${others.length === 1 ? who : `${best.name}, the best of the others,`} is worse than ${baseline.name}`
        : `${who} is not distinguishable from ${baseline.name}`;
  const figures = `score ${shown(best.mean)} against ${shown(baseline.mean)}, ${signed(mean)}`;
  return `${found}: ${figures} [${signed(low)}, ${signed(high)}] on ${counted(n, 'held-out prompt')}.`;
}

function shown(value: number): string {
  return Number.isNaN(value) ? 'unknown' : value.toFixed(3);
}
