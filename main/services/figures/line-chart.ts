/** Lines over a shared x axis, with bands where the values have intervals. */

import { largest, smallest } from '../../lists.ts';
import { colourOf, fixed, horizontalAxis, legend, linearScale, PLOT, sheet, verticalAxis } from './svg.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
  /** Bounds of an interval around y. */
  readonly low?: number;
  readonly high?: number;
}

export interface Series {
  readonly name: string;
  readonly points: readonly Point[];
  /** The colour, by default by position; charts of the same models use the same colours. */
  readonly colour?: number;
}

export interface LineChart {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly series: readonly Series[];
}

/** The chart as SVG. Non-finite points are omitted; an empty chart says so. */
export function lineChart({ title, xLabel, yLabel, series }: LineChart): string {
  const drawn = series.map(({ name, points, colour }, place) => ({
    name,
    colour: colourOf(colour ?? place),
    points: points.filter(({ y }) => Number.isFinite(y)),
  }));
  const all = drawn.flatMap(({ points }) => points);
  const xs = all.map(({ x }) => x);
  const ys = all.flatMap(({ y, low = y, high = y }) => [y, low, high]);
  const [x, y] = [
    linearScale(smallest(xs), largest(xs), PLOT.left, PLOT.right),
    linearScale(smallest(ys, 0), largest(ys), PLOT.bottom, PLOT.top),
  ];
  if (all.length === 0) return sheet(title, ['<text x="360" y="200" text-anchor="middle">no values</text>']);
  const at = ({ x: px }: Point, value: number): string => `${fixed(x.at(px))},${fixed(y.at(value))}`;
  const shapes = drawn.flatMap(({ points, colour }) => {
    const banded = points.filter(({ low, high }) => low !== undefined && high !== undefined);
    const band = [
      ...banded.map((point) => at(point, point.high ?? point.y)),
      ...[...banded].reverse().map((point) => at(point, point.low ?? point.y)),
    ];
    const line = points.map((point) => at(point, point.y));
    return [
      ...(band.length === 0 ? [] : [`<polygon points="${band.join(' ')}" fill="${colour}" opacity="0.15"/>`]),
      `<polyline points="${line.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...(points.length > 12 ? [] : line.map((spot) => dot(spot, colour))),
    ];
  });
  const { parts, height } = legend(drawn);
  return sheet(title, [...verticalAxis(y, yLabel), ...horizontalAxis(x, xLabel), ...shapes, ...parts], height);
}

function dot(spot: string, colour: string): string {
  const [cx, cy] = spot.split(',');
  return `<circle cx="${cx}" cy="${cy}" r="3" fill="${colour}"/>`;
}
