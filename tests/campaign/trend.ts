/** Whether a measure grows: its regression line over time, with the interval in which its slope lies. */

export interface Trend {
  readonly samples: number;
  readonly first: number;
  readonly last: number;
  /** By a unit of x. */
  readonly slope: number;
  /** The 95% interval of the slope, by the normal approximation. */
  readonly low: number;
  readonly high: number;
}

/** Least squares of y on x; at least three points. */
export function trendOf(points: readonly { readonly x: number; readonly y: number }[]): Trend {
  const n = points.length;
  if (n < 3) throw new Error(`Expected at least three points, got ${n}`);
  const mean = (of: (point: { readonly x: number; readonly y: number }) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / n;
  const [mx, my] = [mean(({ x }) => x), mean(({ y }) => y)];
  const spread = points.reduce((sum, { x }) => sum + (x - mx) ** 2, 0);
  const slope = points.reduce((sum, { x, y }) => sum + (x - mx) * (y - my), 0) / spread;
  const rest = points.reduce((sum, { x, y }) => sum + (y - my - slope * (x - mx)) ** 2, 0);
  const error = Math.sqrt(rest / (n - 2) / spread);
  const [first = { y: 0 }, last = { y: 0 }] = [points[0], points.at(-1)];
  return { samples: n, first: first.y, last: last.y, slope, low: slope - 1.96 * error, high: slope + 1.96 * error };
}
