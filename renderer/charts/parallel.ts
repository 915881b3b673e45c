/** Parallel coordinates: one vertical axis a setting, one line a run through its values. Pure. */
import { beginning } from '../components/beginning.ts';
import { formatValue } from '../components/config-form/entry.ts';
import { largest, smallest } from '../components/extremes.ts';

export type AxisValue = string | number | boolean | null;

export interface ParallelRow {
  readonly id: number;
  readonly name: string;
  /** One for each axis. */
  readonly values: readonly AxisValue[];
}

export interface ParallelAxis {
  readonly name: string;
  /** The places of all values that occur, from 0 (bottom) to 1; a value without a place isn't drawn. */
  readonly place: (value: AxisValue) => number | null;
  readonly ticks: readonly { readonly at: number; readonly label: string }[];
  /** Places that a handle moves between, ascending. */
  readonly stops: readonly number[];
}

/** Bounds of a brush on an axis, as places. */
export type Brush = readonly [low: number, high: number];

/** A ratio from which a logarithmic axis shows more. */
const LOG_RATIO = 50;
const MOST_TICKS = 5;
/** Places of two labels. */
const CLOSEST = 0.08;
/** Room at both ends for the outermost categories. */
const MARGIN = 0.04;

/** The axis of some values: numbers to scale, logarithmic where they span orders of magnitude; anything else evenly. */
export function axisOf(name: string, values: readonly AxisValue[]): ParallelAxis {
  const numbers = values.filter((value): value is number => typeof value === 'number' && Number.isFinite(value));
  const rest = values.filter((value) => value !== null && typeof value !== 'number');
  return rest.length === 0 && numbers.length > 0 ? numericAxis(name, numbers) : categoryAxis(name, values);
}

function numericAxis(name: string, numbers: readonly number[]): ParallelAxis {
  const [low, high] = [smallest(numbers), largest(numbers)];
  const isLog = low > 0 && high / low >= LOG_RATIO;
  const scale = (value: number): number => (isLog ? Math.log(value) : value);
  const share = (value: number): number =>
    low === high ? 0.5 : (scale(value) - scale(low)) / (scale(high) - scale(low));
  const place = (value: number): number => MARGIN + (1 - 2 * MARGIN) * share(value);
  const distinct = [...new Set(numbers)].sort((a, b) => a - b);
  const step = (distinct.length - 1) / (MOST_TICKS - 1);
  const shown =
    distinct.length <= MOST_TICKS
      ? distinct
      : Array.from({ length: MOST_TICKS }, (_, i) => distinct[Math.round(i * step)] ?? high);
  return {
    name,
    place: (value) => (typeof value === 'number' && Number.isFinite(value) ? place(value) : null),
    ticks: apart(shown.map((value) => ({ at: place(value), label: tickText(value) }))),
    stops: distinct.map(place),
  };
}

function categoryAxis(name: string, values: readonly AxisValue[]): ParallelAxis {
  const distinct = [...new Map(values.map((value) => [String(value), value])).values()];
  const places = new Map(
    distinct.map((value, i) => [
      String(value),
      distinct.length === 1 ? 0.5 : MARGIN + ((1 - 2 * MARGIN) * i) / (distinct.length - 1),
    ]),
  );
  return {
    name,
    place: (value) => places.get(String(value)) ?? null,
    ticks: distinct.map((value) => ({ at: places.get(String(value)) ?? 0, label: tickText(value) })),
    stops: [...places.values()],
  };
}

/** Labels that would overlap are left out. */
function apart<T extends { readonly at: number }>(ticks: readonly T[]): readonly T[] {
  let last = Number.NEGATIVE_INFINITY;
  return ticks.filter(({ at }) => {
    const fits = at - last >= CLOSEST;
    if (fits) last = at;
    return fits;
  });
}

const MOST_CHARACTERS = 16;

/** A value short enough for an axis; of a path the end. */
export function tickText(value: AxisValue): string {
  const number = typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(3)) : value;
  const text = typeof number === 'string' ? (number.split(/[\\/]/).at(-1) ?? number) : formatValue(number);
  return text.length > MOST_CHARACTERS ? `${beginning(text, MOST_CHARACTERS - 1)}…` : text;
}

/** The rows inside every brush; a row without a value on a brushed axis is outside. */
export function brushed(
  rows: readonly ParallelRow[],
  axes: readonly ParallelAxis[],
  brushes: Readonly<Record<string, Brush>>,
): readonly ParallelRow[] {
  return rows.filter((row) =>
    axes.every(({ name, place }, i) => {
      const brush = brushes[name];
      if (brush === undefined) return true;
      const at = place(row.values[i] ?? null);
      return at !== null && at >= brush[0] - 1e-9 && at <= brush[1] + 1e-9;
    }),
  );
}

/** A brush after one of its ends was moved by a key: to the next stop, never past the other end. */
export function movedEnd({ stops }: ParallelAxis, [low, high]: Brush, end: 'low' | 'high', by: 1 | -1): Brush {
  const now = end === 'low' ? low : high;
  const next = by > 0 ? stops.find((stop) => stop > now + 1e-9) : stops.findLast((stop) => stop < now - 1e-9);
  const to = next ?? now;
  return end === 'low' ? [Math.min(to, high), high] : [low, Math.max(to, low)];
}

/** The value at an end of a brush, in words: the nearest one inside. */
export function endText(axis: ParallelAxis, values: readonly AxisValue[], at: number): string {
  const placed = values.flatMap((value) => {
    const place = axis.place(value);
    return place === null ? [] : [{ value, off: Math.abs(place - at) }];
  });
  const nearest = placed.toSorted((a, b) => a.off - b.off)[0];
  return nearest === undefined ? 'none' : tickText(nearest.value);
}

/** A setting's name on one line or two, divided at the last underscore that leaves the first one short enough. */
export function nameLines(name: string, longest: number): readonly string[] {
  if (name.length <= longest) return [name];
  const at = name.lastIndexOf('_', longest - 1);
  return at < 1 ? [name] : [name.slice(0, at + 1), name.slice(at + 1)];
}
