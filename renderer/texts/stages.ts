/** The stages that texts are measured against, and their positions on an axis. Pure. */
import type { HistogramBin } from '../charts/Histogram.tsx';
import { largest } from '../components/extremes.ts';

/** Words per fragment in each stage of the curriculum. */
export const stageWords = [10, 25, 50, 100, 200, 500] as const;

const BINS = 18;

/** Bins of equal width on a logarithmic axis, as stages roughly double. Their bounds are exponents of ten. */
export function lengthBins(lengths: readonly number[]): HistogramBin[] {
  const [low, high] = [Math.log10(stageWords[0]) - 0.15, Math.log10(largest(lengths, 600)) + 0.02];
  const width = (high - low) / BINS;
  const counts = Array<number>(BINS).fill(0);
  for (const words of lengths) {
    const bin = Math.floor((Math.log10(Math.max(1, words)) - low) / width);
    const at = Math.min(BINS - 1, Math.max(0, bin));
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts.map((count, i) => ({ from: low + i * width, to: low + (i + 1) * width, count }));
}

/** Converts a position on the logarithmic axis to words. */
export function wordsAt(place: number): string {
  return String(Math.round(10 ** place));
}

/** The stages' positions on that axis. */
export const stageMarks = stageWords.map((words) => ({ value: Math.log10(words), label: String(words) }));
