/** Schulman's k3 estimator of KL(policy ‖ reference) at one token (http://joschu.net/blog/kl-approx.html). */
import type { TrainConfig } from '../config/config.ts';

/** A part of a token's loss. */
export interface Term {
  readonly value: number;
  /** Derivatives with ratio and logp taken as separate variables. */
  readonly gradRatio: number;
  readonly gradLogp: number;
}

/**
 * k3 = e^d − d − 1 with `d` = ref − logp, × ρ when bias-corrected. Above `kl_clamp` the term is a constant, without ρ too:
 * ρ's gradient alone would lower a token that the reference has above the policy. `shared`: ρ is that of several tokens.
 * Otherwise the parts of the gradient by logp add up to −d·ρ, and from d = 37 on they would cancel out.
 */
export function klTerm(
  d: number,
  ratio: number,
  shared: boolean,
  { kl_clamp, use_bias_correction_kl }: Pick<TrainConfig, 'kl_clamp' | 'use_bias_correction_kl'>,
): Term {
  const bound = kl_clamp ?? Number.POSITIVE_INFINITY;
  const bounded = Math.min(Math.max(d, -bound), bound);
  const growth = Math.expm1(bounded);
  const k3 = growth - bounded;
  if (d > bound) return { value: k3, gradRatio: 0, gradLogp: 0 };
  const gradLogp = d < -bound ? 0 : -growth;
  if (!use_bias_correction_kl) return { value: k3, gradRatio: 0, gradLogp };
  if (shared || d < -bound) return { value: k3 * ratio, gradRatio: k3, gradLogp: gradLogp * ratio };
  return { value: k3 * ratio, gradRatio: 0, gradLogp: -d * ratio };
}
