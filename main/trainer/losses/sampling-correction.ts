/**
 * Completions sampled by another program than the one that is trained (vLLM, most often) have other log-probabilities
 * than the trainer's. TRL's metrics of the difference, and its truncated importance sampling (Yao et al. 2025, "Your
 * efficient RL framework secretly brings you off-policy RL training"): each token's policy term is multiplied by
 * min(exp(old - sampled), cap); vespo, which weights sequences, takes it into its w instead. Matrices are [R*T], row after row; names are TRL's.
 */
import type { Metrics } from '../protocol/trainer-events.ts';

export interface SamplingRatios {
  readonly values: Float32Array;
  readonly metrics: Metrics;
}

/** The truncated ratio of each token, 1 where the mask is 0. */
export function samplingRatios(
  old: ArrayLike<number>,
  sampled: ArrayLike<number>,
  mask: ArrayLike<number>,
  cap: number,
): SamplingRatios {
  const values = Float32Array.from(mask, (counts, i) =>
    counts === 0 ? 1 : Math.min(Math.exp((old[i] ?? Number.NaN) - (sampled[i] ?? Number.NaN)), cap),
  );
  const counted = values.filter((_, i) => mask[i] !== 0);
  const ratio = 'sampling/importance_sampling_ratio';
  const { min, mean, max } = rangeOf(counted);
  return { values, metrics: { [`${ratio}/min`]: min, [`${ratio}/mean`]: mean, [`${ratio}/max`]: max } };
}

/** Mean and maximum of |trainer's - sampler's log-probability|, in nats. */
export function logpDifference(
  trainer: ArrayLike<number>,
  sampled: ArrayLike<number>,
  mask: ArrayLike<number>,
): Metrics {
  const differences = Float64Array.from(mask, (_, i) =>
    Math.abs((trainer[i] ?? Number.NaN) - (sampled[i] ?? Number.NaN)),
  );
  const { mean, max } = rangeOf(differences.filter((_, i) => mask[i] !== 0));
  return { 'sampling/sampling_logp_difference/mean': mean, 'sampling/sampling_logp_difference/max': max };
}

function rangeOf(values: Float32Array | Float64Array) {
  let [min, max, sum] = [Number.NaN, Number.NaN, 0];
  for (const value of values) {
    if (!(min <= value)) min = value;
    if (!(max >= value)) max = value;
    sum += value;
  }
  return { min, max, mean: sum / values.length };
}
