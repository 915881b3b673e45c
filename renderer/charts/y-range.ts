/** The bounds of a chart's y axis. Pure. */

/** null: from the data. */
export interface YRange {
  readonly min: number | null;
  readonly max: number | null;
}

export const fromData: YRange = { min: null, max: null };

export function isEmptyRange({ min, max }: YRange): boolean {
  return min !== null && max !== null && min >= max;
}

/** The data's range with the bounds that are set; those that leave nothing to draw, or 0 on a logarithmic axis, are ignored. */
export function withBounds(
  { min, max }: YRange,
  [low, high]: readonly [number, number],
  log: boolean,
): [number, number] {
  const from = min === null || (log && min <= 0) ? low : min;
  const to = max ?? high;
  return from < to ? [from, to] : [low, high];
}
