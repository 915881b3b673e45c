/** Bootstrap percentile intervals (Efron 1979): the uncertainty of a mean without assumptions about its distribution. */

/** A mean with its interval. */
export interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** Of no values at all. */
export const NO_INTERVAL: Interval = { mean: Number.NaN, low: Number.NaN, high: Number.NaN };

export interface BootstrapOptions {
  /** Confidence level; 0.95 by default. */
  readonly level?: number;
  /** How many resamples; 2,000 by default. */
  readonly resamples?: number;
}

/** The mean of some values. */
export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** How far rounding may take a mean or a weighted sum: 0.6 + 0.3 is 0.8999999999999999, and so are means of 0.9. */
const ROUNDING = 1e-9;

/** Whether a mean or a weighted sum is at least so much. */
export function reaches(value: number, least: number): boolean {
  return value >= least - ROUNDING * Math.max(1, Math.abs(least));
}

/** The q-quantile of sorted values, linear between neighbours. */
export function quantile(sorted: ArrayLike<number>, q: number): number {
  const at = (sorted.length - 1) * q;
  const below = sorted[Math.floor(at)] as number;
  const above = sorted[Math.ceil(at)] as number;
  return below + (above - below) * (at - Math.floor(at));
}

/** The middle of values in any order. */
export function median(values: readonly number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}

/** The percentile interval of a mean; `random` gives uniforms in [0, 1) and determines the resamples. */
export function bootstrapMean(
  values: readonly number[],
  random: () => number,
  options: BootstrapOptions = {},
): Interval {
  if (values.length === 0) throw new RangeError('Expected at least one value to take an interval of, got none');
  const { level = 0.95, resamples = 2000 } = options;
  const means = new Float64Array(resamples);
  for (let r = 0; r < resamples; r++) {
    let sum = 0;
    for (let i = 0; i < values.length; i++) sum += values[Math.floor(random() * values.length)] as number;
    means[r] = sum / values.length;
  }
  means.sort();
  const tail = (1 - level) / 2;
  return { mean: meanOf(values), low: quantile(means, tail), high: quantile(means, 1 - tail) };
}

/** The interval of the mean of `after[i] - before[i]`: pairs are resampled together. */
export function bootstrapDifference(
  before: readonly number[],
  after: readonly number[],
  random: () => number,
): Interval {
  if (before.length !== after.length)
    throw new RangeError(`Expected as many values after as before (${before.length}), got ${after.length}`);
  return bootstrapMean(
    after.map((value, i) => value - (before[i] as number)),
    random,
  );
}
