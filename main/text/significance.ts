/** Whether a difference could be due to chance: paired permutation tests, and their correction for many at once. */

export interface SignFlipOptions {
  /** How many random sign patterns; 10,000 by default. */
  readonly resamples?: number;
}

/**
 * Two-sided p-value of the hypothesis that paired differences are symmetric around 0 (Fisher's randomisation test):
 * the share of random sign patterns whose mean is at least as far from 0, counting the observed one. Up to 12
 * differences, all patterns are enumerated.
 */
export function signFlipTest(
  differences: readonly number[],
  random: () => number,
  { resamples = 10_000 }: SignFlipOptions = {},
): number {
  const values = differences.filter((value) => value !== 0);
  if (values.length === 0) return 1;
  const observed = Math.abs(values.reduce((sum, value) => sum + value, 0)) - 1e-12;
  const all = 2 ** values.length;
  if (values.length <= 12) {
    let extreme = 0;
    for (let pattern = 0; pattern < all; pattern++)
      if (Math.abs(flippedSum(values, (i) => (pattern >> i) & 1)) >= observed) extreme++;
    return extreme / all;
  }
  let extreme = 1;
  for (let r = 0; r < resamples; r++)
    if (Math.abs(flippedSum(values, () => (random() < 0.5 ? 1 : 0))) >= observed) extreme++;
  return extreme / (resamples + 1);
}

function flippedSum(values: readonly number[], flip: (i: number) => number): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += flip(i) === 1 ? -(values[i] as number) : (values[i] as number);
  return sum;
}

/**
 * Holm's step-down correction (Holm 1979): adjusted p-values that keep the chance of any false positive among all tests
 * below the level that each is compared with.
 */
export function holm(pValues: readonly number[]): number[] {
  const order = [...pValues.keys()].sort((a, b) => (pValues[a] ?? 0) - (pValues[b] ?? 0));
  const adjusted = pValues.map(() => 1);
  let largest = 0;
  for (const [rank, i] of order.entries()) {
    largest = Math.max(largest, Math.min(1, (pValues.length - rank) * (pValues[i] ?? 1)));
    adjusted[i] = largest;
  }
  return adjusted;
}
