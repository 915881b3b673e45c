/** The engagement of both phases beside the whole, as shares, so that sides of different sizes compare. */
import { barChart } from '../figures/bar-chart.ts';
import type { ReplySplit, SplitStatistics } from './split.ts';

/** SVG: which share of the records lies in each quartile of the whole dataset's engagement. */
export function splitFigure({ before, after, borders }: ReplySplit): string {
  const [low, middle, high] = borders.map((border) => String(Math.round(border)));
  const shares = ({ quartiles, records }: SplitStatistics) => quartiles.map((count) => ({ value: count / records }));
  return barChart({
    title: 'Engagement before and after the split',
    yLabel: 'share of the records',
    groups: [`up to ${low}`, `up to ${middle}`, `up to ${high}`, `above ${high}`],
    series: [
      { name: `all (${before.records})`, bars: shares(before) },
      { name: `phase 1, sft (${after.sft.records})`, bars: shares(after.sft) },
      { name: `phase 2, grpo (${after.grpo.records})`, bars: shares(after.grpo) },
    ],
  });
}
