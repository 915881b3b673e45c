/** What a comparison shows, in one sentence. Pure. */
import type { ComparedModel, ComparisonView } from '../../main/api/contract/index.ts';
import { counted, score, signed } from '../components/format.ts';

type Compared = Pick<ComparedModel, 'name' | 'summary' | 'paired'>;

/** The model with the highest mean against the baseline, which comes first; null before all are evaluated. */
export function verdictInWords(
  [baseline, ...others]: readonly Compared[],
  { label }: Pick<ComparisonView['metric'], 'label'>,
): string | null {
  const known = others.flatMap(({ name, summary, paired }) =>
    summary === null || paired === null
      ? []
      : [{ name, mean: summary.mean_alignment, gain: paired.difference, n: paired.n }],
  );
  if (baseline?.summary == null || known.length < others.length) return null;
  const [best] = known.toSorted((a, b) => b.mean - a.mean);
  if (best === undefined) return null;
  const { mean_alignment: before } = baseline.summary;
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
  const figures = `${label.toLowerCase()} ${score(best.mean)} against ${score(before)}, ${signed(mean)}`;
  return `${found}: ${figures} [${signed(low)}, ${signed(high)}] on ${counted(n, 'held-out prompt')}.`;
}
