/** A roofline: work by its FLOP per byte against its speed, under the machine's two limits. Both axes are logarithmic. */
import { colourOf, fixed, legend, PLOT, sheet, shortNumber, textAt } from './svg.ts';

export interface RooflinePoint {
  readonly name: string;
  /** Points of a group have one colour. */
  readonly group: string;
  readonly flop: number;
  readonly bytes: number;
  readonly seconds: number;
}

export interface RooflineChart {
  readonly title: string;
  /** FLOP per second, and bytes per second. */
  readonly peakFlops: number;
  readonly peakBytes: number;
  readonly points: readonly RooflinePoint[];
}

/** Work that only moves memory has no place on it; what takes less than this share of the time isn't drawn either. */
const DRAWN_SHARE = 0.005;
/** Points that take at least this share of the time have a number, and their names under the figure. */
const NAMED_SHARE = 0.03;
const NAME_ROW = 18;
/** Characters that fit into half of the width. */
const SHORT_NAME = 52;
const LARGEST_RADIUS = 28;

/** The chart as SVG. A point's area is its share of the time. */
export function rooflineChart({ title, peakFlops, peakBytes, points }: RooflineChart): string {
  const total = points.reduce((sum, { seconds }) => sum + seconds, 0);
  const drawn = points
    .filter(({ flop, bytes, seconds }) => flop > 0 && bytes > 0 && seconds > DRAWN_SHARE * total)
    .map((point) => ({ ...point, x: point.flop / point.bytes, y: point.flop / point.seconds }));
  if (drawn.length === 0) return sheet(title, ['<text x="360" y="200" text-anchor="middle">no values</text>']);
  const ridge = peakFlops / peakBytes;
  const [left, right] = [Math.min(ridge, ...drawn.map(({ x }) => x)), Math.max(4 * ridge, ...drawn.map(({ x }) => x))];
  const low = Math.min(peakBytes * left, ...drawn.map(({ y }) => y));
  const x = logScale(left / 1.5, right * 1.5, PLOT.left, PLOT.right);
  const y = logScale(low / 2, Math.max(peakFlops, ...drawn.map((point) => point.y)) * 2, PLOT.bottom, PLOT.top);
  const roof = [left / 1.5, ridge, right * 1.5]
    .map((at) => `${fixed(x.at(at))},${fixed(y.at(Math.min(peakFlops, at * peakBytes)))}`)
    .join(' ');
  const groups = [...new Set(drawn.map(({ group }) => group))];
  const dots = drawn.map(({ group, x: px, y: py, seconds }) => {
    const radius = Math.max(2.5, LARGEST_RADIUS * Math.sqrt(seconds / total));
    const colour = colourOf(groups.indexOf(group));
    return `<circle cx="${fixed(x.at(px))}" cy="${fixed(y.at(py))}" r="${fixed(radius)}" fill="${colour}" fill-opacity="0.55"/>`;
  });
  const named = drawn.filter(({ seconds }) => seconds >= NAMED_SHARE * total).toSorted((a, b) => b.seconds - a.seconds);
  const numbers = named.map(({ x: px, y: py }, i) =>
    textAt(x.at(px), y.at(py) + 3.5, String(i + 1), { size: 10, anchor: 'middle' }),
  );
  const { parts, height } = legend(groups.map((name, i) => ({ name, colour: colourOf(i) })));
  const texts = named.map(
    ({ name, group, seconds }, i) => `${i + 1}  ${name}, ${group}: ${Math.round((100 * seconds) / total)}% of the time`,
  );
  const columns = texts.every(({ length }) => length <= SHORT_NAME) ? 2 : 1;
  const names = texts.map((text, i) =>
    textAt(
      PLOT.left + (i % columns) * ((PLOT.right - PLOT.left) / columns),
      height + 6 + Math.floor(i / columns) * NAME_ROW,
      text,
      { size: 11 },
    ),
  );
  return sheet(
    title,
    [
      ...axes(x, y),
      `<polyline points="${roof}" fill="none" stroke="#222" stroke-width="2"/>`,
      textAt(PLOT.left + 12, y.at(peakFlops) - 6, `${shortNumber(Number((peakFlops / 1e9).toPrecision(3)))} GFLOPS`, {
        size: 11,
      }),
      ...dots,
      ...numbers,
      ...parts,
      ...names,
    ],
    height + 8 + Math.ceil(named.length / columns) * NAME_ROW,
  );
}

interface LogScale {
  at(value: number): number;
  /** Powers of ten, or of two where there would be too few. */
  readonly ticks: readonly number[];
}

function logScale(low: number, high: number, from: number, to: number): LogScale {
  const base = Math.log10(high / low) < 2.5 ? 4 : 10;
  const first = Math.ceil(Math.log(low) / Math.log(base));
  const last = Math.floor(Math.log(high) / Math.log(base));
  return {
    at: (value) => from + (Math.log(value / low) / Math.log(high / low)) * (to - from),
    ticks: Array.from({ length: Math.max(last - first + 1, 0) }, (_, i) => base ** (first + i)),
  };
}

function axes(x: LogScale, y: LogScale): string[] {
  return [
    ...y.ticks.flatMap((tick) => [
      `<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${fixed(y.at(tick))}" y2="${fixed(y.at(tick))}" stroke="#ddd"/>`,
      textAt(PLOT.left - 8, y.at(tick) + 4, short(tick / 1e9), { size: 11, anchor: 'end' }),
    ]),
    ...x.ticks.map((tick) => textAt(x.at(tick), PLOT.bottom + 18, short(tick), { size: 11, anchor: 'middle' })),
    textAt(18, (PLOT.top + PLOT.bottom) / 2, 'GFLOPS', { anchor: 'middle', rotate: -90 }),
    textAt((PLOT.left + PLOT.right) / 2, PLOT.bottom + 38, 'FLOP per byte', { anchor: 'middle' }),
    `<line x1="${PLOT.left}" x2="${PLOT.left}" y1="${PLOT.top}" y2="${PLOT.bottom}" stroke="#444"/>`,
    `<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${PLOT.bottom}" y2="${PLOT.bottom}" stroke="#444"/>`,
  ];
}

function short(value: number): string {
  return String(Number(value.toPrecision(2)));
}
