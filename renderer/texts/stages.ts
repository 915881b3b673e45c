/** The stages that texts are measured against, and how they look on an axis. Pure. */
import type { HistogramBin } from '../charts/Histogram.tsx';

/** Words a fragment in each stage of the curriculum. */
export const stageWords = [10, 25, 50, 100, 200, 500] as const;

const BINS = 18;

/** Bins of equal width on a logarithmic axis: stages double, and so do the bins. Their ends are powers of ten. */
export function lengthBins(lengths: readonly number[]): HistogramBin[] {
  const [low, high] = [Math.log10(stageWords[0]) - 0.15, Math.log10(Math.max(600, ...lengths)) + 0.02];
  const width = (high - low) / BINS;
  const counts = Array<number>(BINS).fill(0);
  for (const words of lengths) {
    const bin = Math.floor((Math.log10(Math.max(1, words)) - low) / width);
    const at = Math.min(BINS - 1, Math.max(0, bin));
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts.map((count, i) => ({ from: low + i * width, to: low + (i + 1) * width, count }));
}

/** A place on the logarithmic axis as words. */
export function wordsAt(place: number): string {
  return String(Math.round(10 ** place));
}

/** Where the stages stand on that axis. */
export const stageMarks = stageWords.map((words) => ({ value: Math.log10(words), label: String(words) }));
