/** Pearson's statistic: Σ (observed − expected)² / expected. Something seen where nothing was expected gives infinity. */
export function chiSquare(observed: readonly number[], expected: readonly number[]): number {
  return observed.reduce((sum, count, i) => {
    const mean = expected[i] ?? 0;
    if (mean === 0) return count === 0 ? sum : Infinity;
    return sum + (count - mean) ** 2 / mean;
  }, 0);
}
