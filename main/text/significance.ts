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
  // Sums that are equal but for rounding count as equal.
  const rounding = 1e-12 * values.reduce((sum, value) => sum + Math.abs(value), 0);
  const observed = Math.abs(flippedSum(values, () => 0)) - rounding;
  const isExtreme = (signs: () => number): boolean => Math.abs(flippedSum(values, signs)) >= observed;
  const all = 2 ** values.length;
  if (values.length <= 12) {
    let extreme = 0;
    for (let pattern = 0; pattern < all; pattern++) if (isExtreme(() => pattern)) extreme++;
    return extreme / all;
  }
  const signs = (): number => Math.floor(random() * 2 ** SIGNS);
  let extreme = 1;
  for (let r = 0; r < resamples; r++) if (isExtreme(signs)) extreme++;
  return extreme / (resamples + 1);
}

/** Values whose signs one random number decides: a number each would take most of a comparison's time. */
const SIGNS = 32;

/** The sum of values with signs turned; `signs` gives those of the next 32, a bit each. */
function flippedSum(values: readonly number[], signs: () => number): number {
  let [sum, bits] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    if (i % SIGNS === 0) bits = signs();
    sum += (1 - 2 * (bits & 1)) * (values[i] as number);
    bits >>>= 1;
  }
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
