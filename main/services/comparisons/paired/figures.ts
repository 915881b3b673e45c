/** A comparison's figures as SVG: the same bytes on every machine. */
import { barChart } from '../../figures/bar-chart.ts';
import { lineChart } from '../../figures/line-chart.ts';
import type { ComparisonView } from './view.ts';

export interface Figure {
  /** For the file: `position`. */
  readonly name: string;
  readonly title: string;
  readonly svg: string;
}

/** How many bars a distribution of scores has. */
const BINS = 10;

/** Score by word position, by length where there are several, and how the scores are spread. */
export function comparisonFigures({ models, rows, metric }: ComparisonView): Figure[] {
  const evaluated = models.flatMap(({ name, summary }, i) => (summary === null ? [] : [{ name, summary, i }]));
  const position = 'Correct words by position in the target';
  const length = 'Mean alignment by words per fragment, with 95% intervals';
  const spread = `Prompts by ${metric.label.toLowerCase()}`;
  const { low, high } = metric;
  const bound = (bin: number): number => Number((low + ((high - low) * bin) / BINS).toFixed(2));
  const hasPositions = evaluated.some(({ summary }) => summary.score_by_position.length > 0);
  const byPosition: Figure[] = [
    {
      name: 'position',
      title: position,
      svg: lineChart({
        title: position,
        xLabel: 'word',
        yLabel: 'share correct',
        series: evaluated.map(({ name, summary }) => ({
          name,
          points: summary.score_by_position.map((y, at) => ({ x: at + 1, y })),
        })),
      }),
    },
  ];
  const figures: Figure[] = [
    ...(hasPositions ? byPosition : []),
    {
      name: 'scores',
      title: spread,
      svg: barChart({
        title: spread,
        yLabel: 'prompts',
        groups: Array.from({ length: BINS }, (_, bin) => `${bound(bin)}–${bound(bin + 1)}`),
        series: evaluated.map(({ name, i }) => ({
          name,
          bars: binned(
            rows.map(({ scores }) => scores[i] ?? null),
            low,
            high,
          ),
        })),
      }),
    },
  ];
  if (!hasPositions || new Set(rows.map(({ words }) => words)).size < 2) return figures;
  const series = evaluated.map(({ name, summary }) => ({
    name,
    points: Object.entries(summary.by_words).map(([words, { mean_alignment, low, high }]) => ({
      x: Number(words),
      y: mean_alignment,
      low,
      high,
    })),
  }));
  const svg = lineChart({ title: length, xLabel: 'words', yLabel: 'alignment', series });
  return [...figures, { name: 'length', title: length, svg }];
}

/** How many scores fall into each tenth; a score of 1 into the last. */
function binned(scores: readonly (number | null)[], low: number, high: number): { readonly value: number }[] {
  const counts = new Array<number>(BINS).fill(0);
  for (const score of scores) {
    if (score === null) continue;
    const bin = Math.min(BINS - 1, Math.max(0, Math.floor(((score - low) / (high - low || 1)) * BINS)));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts.map((value) => ({ value }));
}
