/** Student's t: intervals and tests for the mean of a few values, such as a score over seeds. */
import { type Interval, meanOf } from './intervals.ts';

/** The share below the upper end of an interval of 95%. */
const UPPER = 0.975;

/** Values that a difference is tested on, and how. */
export interface DifferenceTest {
  /** Mean of the first less the second, with its interval. */
  readonly difference: Interval;
  /** Two-sided. */
  readonly p: number;
}

/**
 * The interval of a mean of independent, roughly normal values: mean ± t(n − 1) · s / √n. Unlike a bootstrap it holds
 * its level for three or four values. Null for fewer than two.
 */
export function tInterval(values: readonly number[]): Interval | null {
  if (values.length < 2) return null;
  const mean = meanOf(values);
  const half = tQuantile(UPPER, values.length - 1) * Math.sqrt(variance(values) / values.length);
  return { mean, low: mean - half, high: mean + half };
}

/** Paired t-test on `first[i] - second[i]`; null for fewer than two pairs. */
export function pairedTest(first: readonly number[], second: readonly number[]): DifferenceTest | null {
  if (first.length !== second.length)
    throw new RangeError(`Expected as many values in both (${first.length}), got ${second.length}`);
  const gains = first.map((value, i) => value - (second[i] ?? Number.NaN));
  const interval = tInterval(gains);
  if (interval === null) return null;
  return {
    difference: interval,
    p: pValue(interval.mean, Math.sqrt(variance(gains) / gains.length), gains.length - 1),
  };
}

/** Welch's t-test on two independent samples of any variances; null if one has fewer than two values. */
export function welchTest(first: readonly number[], second: readonly number[]): DifferenceTest | null {
  if (first.length < 2 || second.length < 2) return null;
  const [a, b] = [variance(first) / first.length, variance(second) / second.length];
  const mean = meanOf(first) - meanOf(second);
  const error = Math.sqrt(a + b);
  // Welch–Satterthwaite; without any variance every degree of freedom gives the same answer.
  const df = error === 0 ? 1 : (a + b) ** 2 / (a ** 2 / (first.length - 1) + b ** 2 / (second.length - 1));
  const half = tQuantile(UPPER, df) * error;
  return { difference: { mean, low: mean - half, high: mean + half }, p: pValue(mean, error, df) };
}

function variance(values: readonly number[]): number {
  const mean = meanOf(values);
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
}

/** Values that all differ by the same amount have no error: any difference but 0 is then certain. */
function pValue(mean: number, error: number, df: number): number {
  if (error < 1e-15 * Math.max(1, Math.abs(mean))) return Math.abs(mean) < 1e-15 ? 1 : 0;
  return 2 * (1 - tCdf(Math.abs(mean / error), df));
}

/** The probability of a value below t, with `df` degrees of freedom. */
export function tCdf(t: number, df: number): number {
  const tail = incompleteBeta(df / (df + t * t), df / 2, 0.5) / 2;
  return t > 0 ? 1 - tail : tail;
}

/** The t below which a share `q` of the distribution lies, for q from 0.5 to 1; by bisection. */
export function tQuantile(q: number, df: number): number {
  if (!(q >= 0.5 && q < 1)) throw new RangeError(`Expected a share from 0.5 to below 1, got ${q}`);
  let [low, high] = [0, 1];
  while (tCdf(high, df) < q) high *= 2;
  for (let i = 0; i < 100 && high - low > 1e-12 * high; i++) {
    const middle = (low + high) / 2;
    if (tCdf(middle, df) < q) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The regularised incomplete beta function I_x(a, b), by its continued fraction (DLMF 8.17.22, Lentz's method). */
export function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges fast below the mean; above it, the complement does.
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  const tiny = 1e-300;
  let [c, d] = [1, 1 - ((a + b) * x) / (a + 1)];
  d = 1 / (Math.abs(d) < tiny ? tiny : d);
  let fraction = d;
  for (let m = 1; m <= 300; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    for (const term of [even, odd]) {
      d = 1 + term * d;
      d = 1 / (Math.abs(d) < tiny ? tiny : d);
      c = 1 + term / c;
      c = Math.abs(c) < tiny ? tiny : c;
      fraction *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-15) break;
  }
  return front * fraction;
}

/** Coefficients of Lanczos's approximation with g = 7 and nine terms. */
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const [first = 0, ...rest] = LANCZOS;
  const series = rest.reduce((sum, term, i) => sum + term / (x + i), first);
  const t = x + 6.5;
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(series);
}
