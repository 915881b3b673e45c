/** Data preparation for charts: a common x axis, smoothing, stacking. Pure. */
import { csvText } from '../components/csv.ts';

/** A colour from theme/tokens.css, by variable name. */
export type ChartColour = 'strand-a' | 'strand-b' | 'ink' | 'soft' | 'faint' | 'good' | 'warn' | 'bad' | 'focus';

/** One line of a chart; x is increasing. A y of null or NaN is a gap. */
export interface ChartSeries {
  readonly id: string;
  readonly label: string;
  readonly colour: ChartColour;
  readonly x: readonly number[];
  readonly y: readonly (number | null)[];
  /** The minimum and maximum of the values that each point aggregates, drawn as a band. */
  readonly low?: readonly (number | null)[];
  readonly high?: readonly (number | null)[];
  /** How many values each point is the mean of; absent: every point is one. */
  readonly counts?: readonly number[];
  readonly look?: 'line' | 'dashed' | 'dotted' | 'points';
}

/** `raw` is the faint line under a smoothed one. */
export type Role = 'low' | 'high' | 'raw' | 'line';

/** One data column of the plot: its series and role. */
export interface Column {
  readonly series: number;
  readonly role: Role;
}

export interface DrawOptions {
  /** Smoothing factor, from 0 (none) to below 1. */
  readonly smoothing: number;
  /** A logarithmic axis; values of 0 and below become gaps. */
  readonly log: boolean;
  /** Each series is stacked on the previous ones. */
  readonly stacked: boolean;
}

type Value = number | null | undefined;

/** The same x for all series; undefined where a series has no point, null where it has a gap. */
export interface Aligned {
  readonly x: readonly number[];
  /** By series, unprocessed, for the readout. */
  readonly values: readonly (readonly Value[])[];
  /** By column, as drawn. */
  readonly columns: readonly (readonly Value[])[];
}

/** The columns that these series need, back to front. */
export function columnsOf(series: readonly ChartSeries[], { smoothing, stacked }: DrawOptions): readonly Column[] {
  const behind: Column[] = [];
  const front: Column[] = [];
  for (const [index, { low, high, look = 'line' }] of series.entries()) {
    if (low !== undefined && high !== undefined && !stacked)
      behind.push({ series: index, role: 'low' }, { series: index, role: 'high' });
    if (smoothing > 0 && !stacked && look !== 'points') front.push({ series: index, role: 'raw' });
    front.push({ series: index, role: 'line' });
  }
  return [...behind, ...front];
}

/** Everything that is drawn, on one x axis. */
export function align(series: readonly ChartSeries[], columns: readonly Column[], options: DrawOptions): Aligned {
  const x = commonX(series);
  const place = new Map(x.map((at, index) => [at, index]));
  const spread = (own: ChartSeries, values: readonly (number | null)[] | undefined): Value[] => {
    const out: Value[] = new Array(x.length).fill(undefined);
    for (const [i, at] of own.x.entries()) {
      const index = place.get(at);
      if (index !== undefined) out[index] = finite(values?.[i]);
    }
    return out;
  };
  const values = series.map((own) => spread(own, own.y));
  const stacks = options.stacked ? stack(values) : values;
  return {
    x,
    values,
    columns: columns.map(({ series: index, role }) => {
      const own = series[index];
      if (own === undefined) return [];
      const column = drawn(own, role, stacks[index] ?? [], spread, options.smoothing);
      return options.log ? column.map(positive) : column;
    }),
  };
}

function drawn(
  own: ChartSeries,
  role: Role,
  line: readonly Value[],
  spread: (own: ChartSeries, values: readonly (number | null)[] | undefined) => Value[],
  smoothing: number,
): readonly Value[] {
  if (role === 'low') return spread(own, own.low);
  if (role === 'high') return spread(own, own.high);
  const smoothed = role === 'line' && smoothing > 0 && own.look !== 'points';
  return smoothed ? smooth(line, smoothing) : line;
}

/** The x of all series, each once, rising. */
function commonX(series: readonly ChartSeries[]): readonly number[] {
  const [first] = series;
  if (first === undefined) return [];
  if (series.every(({ x }) => sameNumbers(x, first.x))) return first.x;
  return [...new Set(series.flatMap(({ x }) => x))].sort((a, b) => a - b);
}

function sameNumbers(a: readonly number[], b: readonly number[]): boolean {
  return a === b || (a.length === b.length && a.every((value, index) => value === b[index]));
}

/** A bias-corrected exponential moving average; gaps and missing points are kept. */
export function smooth(values: readonly Value[], keep: number): readonly Value[] {
  let sum = 0;
  let weight = 0;
  return values.map((value) => {
    if (value === null || value === undefined) return value;
    sum = keep * sum + (1 - keep) * value;
    weight = keep * weight + (1 - keep);
    return sum / weight;
  });
}

/** Running sums over the series; a missing value counts as 0. */
function stack(values: readonly (readonly Value[])[]): readonly (readonly Value[])[] {
  const sums: number[] = [];
  return values.map((own) =>
    own.map((value, index) => {
      const sum = (sums[index] ?? 0) + (value ?? 0);
      sums[index] = sum;
      return sum;
    }),
  );
}

/** The newest value of a series at or before `index`; null before its first. */
export function valueAt(values: readonly Value[], index: number): number | null {
  for (let i = Math.min(index, values.length - 1); i >= 0; i--) {
    const value = values[i];
    if (value !== undefined) return value;
  }
  return null;
}

/** Of how many values the newest points at or before `at` are the mean. */
export function countAt(series: readonly Pick<ChartSeries, 'x' | 'counts'>[], at: number): number {
  return series.reduce(
    (most, { x, counts = [] }) => Math.max(most, counts[x.findLastIndex((own) => own <= at)] ?? 1),
    1,
  );
}

function finite(value: Value): number | null {
  return value !== null && value !== undefined && Number.isFinite(value) ? value : null;
}

function positive(value: Value): Value {
  return value !== null && value !== undefined && value <= 0 ? null : value;
}

/** A table's heads. Where points stand for several steps, a row has their mean, at the last of them. */
export function headsOf(xName: string, series: readonly Pick<ChartSeries, 'label' | 'low'>[]): readonly string[] {
  const isMean = series.some(({ low }) => low !== undefined);
  return [
    isMean ? `last ${xName}` : xName,
    ...series.map(({ label, low }) => (low === undefined ? label : `${label}, mean`)),
  ];
}

/** The series as CSV: full precision, one row per x value, empty cells where a series has no value. */
export function seriesCsv(
  xName: string,
  series: readonly Pick<ChartSeries, 'label' | 'low'>[],
  aligned: Aligned,
): string {
  const rows = aligned.x.map((at, index) => [at, ...aligned.values.map((values) => values[index] ?? null)]);
  return csvText([headsOf(xName, series), ...rows]);
}
