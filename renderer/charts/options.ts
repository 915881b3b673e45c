/** uPlot options in the app's style: hairlines, small type, theme colours. */
import uPlot from 'uplot';
import { largest, smallest } from '../components/extremes.ts';
import { colourOf } from './colours.ts';
import type { ChartSeries, Column } from './series.ts';
import { xRange } from './x-range.ts';
import { withBounds, type YRange } from './y-range.ts';

export interface PlotSetup {
  readonly series: readonly ChartSeries[];
  readonly columns: readonly Column[];
  readonly log: boolean;
  readonly stacked: boolean;
  readonly syncKey: string;
  readonly format: (value: number) => string;
  /** The zoomed x range; null for everything. */
  readonly zoom: () => readonly [number, number] | null;
  /** Values that the y axis always includes: the baseline, the goal, 0. */
  readonly inView: () => readonly number[];
  /** Bounds of the y axis that the user has set. */
  readonly fixed: () => YRange;
  readonly plugins: readonly uPlot.Plugin[];
}

const FONT = "11px 'Inter Variable', system-ui, sans-serif";
const BAND_ALPHA = 0.16;
const RAW_ALPHA = 0.3;
const STACK_ALPHA = 0.45;

/** Everything but size and data. */
export function plotOptions(setup: PlotSetup): Omit<uPlot.Options, 'width' | 'height'> {
  const { columns, log, syncKey, format } = setup;
  const axis = { stroke: () => colourOf('faint'), font: FONT, ticks: { show: false } } satisfies uPlot.Axis;
  const grid = { stroke: () => colourOf('line'), width: 1 };
  return {
    series: [{}, ...columns.map((column) => lineOf(setup, column))],
    bands: bandsOf(setup),
    scales: {
      x: { time: false, range: (plot, min, max) => xRange(setup.zoom(), plot.data[0], min, max) },
      y: {
        distr: log ? 3 : 1,
        range: (_, min, max) =>
          withBounds(setup.fixed(), log ? logRange(min, max) : yRange(min, max, setup.inView()), log),
      },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 26, gap: 8, space: 60, values: (_, splits) => splits.map(stepLabel) },
      {
        ...axis,
        grid,
        size: 44,
        gap: 6,
        space: 26,
        values: (_, splits) => splits.map((value) => (value === null ? '' : tickLabel(value, format))),
      },
    ],
    legend: { show: false },
    // On the right, room for half of the last x label (`100,000`).
    padding: [8, 22, 0, 0],
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: true, y: false, setScale: false },
      // Only the hover line is synced: a drag in one chart must not start in all of them.
      sync: { key: syncKey, setSeries: false, scales: ['x', null], filters: { pub: (type) => HOVER.has(type) } },
      bind: { dblclick: () => null },
    },
    plugins: [...setup.plugins],
  };
}

const HOVER: ReadonlySet<string> = new Set(['mousemove', 'mouseleave', 'mouseenter']);

function lineOf({ series, stacked }: PlotSetup, { series: index, role }: Column): uPlot.Series {
  const own = series[index];
  const colour = own?.colour ?? 'ink';
  if (role === 'low' || role === 'high') return { width: 0, points: { show: false } };
  const stroke = (): string => withAlpha(colourOf(colour), role === 'raw' ? RAW_ALPHA : 1);
  if (own?.look === 'points') {
    const fill = (): string => colourOf(colour);
    return { stroke, width: 1, dash: [2, 3], points: { show: true, size: 6, width: 1, fill, stroke } };
  }
  const dash = own?.look === 'dashed' ? [6, 4] : own?.look === 'dotted' ? [2, 3] : undefined;
  return {
    stroke,
    width: stacked ? 1 : 1.5,
    ...(dash && { dash }),
    // In a stack, series above the first are filled by bands.
    ...(stacked && index === 0 && { fill: () => withAlpha(colourOf(colour), STACK_ALPHA) }),
    points: { show: isAlone, size: 6, width: 1, stroke, fill: stroke },
  };
}

/** A line with a single value has no length: it is drawn as a point. The plot outlives the first step. */
function isAlone(plot: uPlot, index: number): boolean {
  let values = 0;
  for (const value of plot.data[index] ?? []) if (value != null && ++values > 1) return false;
  return values === 1;
}

/** Bands between each point's low and high; in a stack, between each line and the one below. */
function bandsOf({ series, columns, stacked }: PlotSetup): uPlot.Band[] {
  const bands: uPlot.Band[] = [];
  for (const [index, { colour }] of series.entries()) {
    const at = (role: Column['role'], of = index): number =>
      1 + columns.findIndex((column) => column.series === of && column.role === role);
    const alpha = stacked ? STACK_ALPHA : BAND_ALPHA;
    const fill = (): string => withAlpha(colourOf(colour), alpha);
    if (at('high') > 0) bands.push({ series: [at('high'), at('low')], fill });
    else if (stacked && index > 0) bands.push({ series: [at('line'), at('line', index - 1)], fill });
  }
  return bands;
}

function yRange(min: number | null, max: number | null, inView: readonly number[]): [number, number] {
  const low = smallest(inView, min ?? undefined);
  const high = largest(inView, max ?? undefined);
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  if (low === high) return low === 0 ? [0, 1] : [low - Math.abs(low) * 0.1, high + Math.abs(high) * 0.1];
  return bounds(uPlot.rangeNum(low, high, 0.06, true));
}

function logRange(min: number | null, max: number | null): [number, number] {
  if (min === null || max === null || min <= 0) return [0.1, 1];
  return bounds(uPlot.rangeLog(min, max, 10, true));
}

function bounds([low, high]: uPlot.Range.MinMax): [number, number] {
  return [low ?? 0, high ?? 1];
}

/** Short enough for the axis: `4e-4`. */
function tickLabel(value: number, format: (value: number) => string): string {
  const size = Math.abs(value);
  return size !== 0 && (size < 0.001 || size >= 1e6) ? Number(value.toPrecision(3)).toExponential() : format(value);
}

// Created once: a live page formats hundreds of labels a second.
const steps = new Intl.NumberFormat('en');

function stepLabel(value: number | null): string {
  return value === null || !Number.isInteger(value) ? '' : steps.format(value);
}

/** The colour with an alpha channel; expects `#rrggbb`, as in tokens.css. */
function withAlpha(colour: string, alpha: number): string {
  if (alpha >= 1 || !/^#[0-9a-f]{6}$/i.test(colour)) return colour;
  return `${colour}${Math.round(alpha * 255)
    .toString(16)
    .padStart(2, '0')}`;
}
