/** Grouped bars, one per series in each group, with error bars where there are intervals. */

import { largest, smallest } from '../../lists.ts';
import { colourOf, fixed, legend, linearScale, PLOT, sheet, textAt, verticalAxis } from './svg.ts';

export interface Bar {
  readonly value: number;
  readonly low?: number;
  readonly high?: number;
}

export interface BarChart {
  readonly title: string;
  readonly yLabel: string;
  readonly groups: readonly string[];
  /** One bar per group, in order. */
  readonly series: readonly { readonly name: string; readonly bars: readonly Bar[] }[];
}

/** The share of a group's width taken by bars. */
const FILLED = 0.75;
/** With more groups than this, labels are slanted. */
const CROWDED = 8;

/** The chart as SVG. */
export function barChart({ title, yLabel, groups, series }: BarChart): string {
  const values = series.flatMap(({ bars }) => bars.flatMap(({ value, low = value, high = value }) => [low, high]));
  const known = values.filter(Number.isFinite);
  const y = linearScale(smallest(known, 0), largest(known, 0), PLOT.bottom, PLOT.top);
  const width = (PLOT.right - PLOT.left) / Math.max(groups.length, 1);
  const barWidth = (width * FILLED) / Math.max(series.length, 1);
  const bars = series.flatMap(({ bars: own }, i) =>
    own.flatMap((bar, g) => {
      if (!Number.isFinite(bar.value)) return [];
      const left = PLOT.left + g * width + (width * (1 - FILLED)) / 2 + i * barWidth;
      return drawn(bar, left, barWidth, colourOf(i), y.at);
    }),
  );
  const crowded = groups.length > CROWDED;
  const names = groups.map((name, g) => {
    const x = PLOT.left + (g + 0.5) * width;
    return crowded
      ? textAt(x + 8, PLOT.bottom + 14, name, { size: 9, anchor: 'end', rotate: -30 })
      : textAt(x, PLOT.bottom + 18, name, { size: 11, anchor: 'middle' });
  });
  const { parts, height } = legend(series.map(({ name }, i) => ({ name, colour: colourOf(i) })));
  return sheet(title, [...verticalAxis(y, yLabel), ...bars, ...names, ...parts], height);
}

function drawn(
  { value, low, high }: Bar,
  left: number,
  width: number,
  colour: string,
  at: (value: number) => number,
): string[] {
  const [top, bottom] = [Math.min(at(value), at(0)), Math.max(at(value), at(0))];
  const bar = `<rect x="${fixed(left)}" y="${fixed(top)}" width="${fixed(width)}" height="${fixed(bottom - top)}" fill="${colour}"/>`;
  if (low === undefined || high === undefined) return [bar];
  const middle = fixed(left + width / 2);
  return [bar, `<line x1="${middle}" x2="${middle}" y1="${fixed(at(low))}" y2="${fixed(at(high))}" stroke="#222"/>`];
}
