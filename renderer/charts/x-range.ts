/** The range of a chart's steps. Pure. */

/** uPlot widens a single step by itself: step 0, where the baseline is, to 100 steps. */
export function xRange(
  zoom: readonly [number, number] | null,
  steps: ArrayLike<number>,
  min: number | null,
  max: number | null,
): [number, number] {
  if (zoom !== null) return [...zoom];
  if (min === null || max === null) return [0, 1];
  const only = steps.length === 1 ? steps[0] : undefined;
  return only === undefined ? [min, max] : [Math.max(0, only - 1), only + 1];
}
