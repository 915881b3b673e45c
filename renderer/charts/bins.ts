/** Sorting values into the bins of a histogram. Pure. */
import type { HistogramBin } from './Histogram.tsx';

/** `count` bins of equal width over [from, to]; the last includes `to`, and values outside go to the nearest bin. */
export function binsOf(values: readonly number[], count: number, from: number, to: number): readonly HistogramBin[] {
  const width = (to - from) / count;
  const counts = new Array<number>(count).fill(0);
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    const index = width === 0 ? 0 : Math.floor((value - from) / width);
    const bin = Math.max(0, Math.min(count - 1, index));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts.map((found, index) => ({ from: from + index * width, to: from + (index + 1) * width, count: found }));
}
