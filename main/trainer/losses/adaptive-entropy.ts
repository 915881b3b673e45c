/**
 * Adaptive entropy control (Skywork-OR1, He et al. 2025, arXiv 2505.22312) with TRL 1.13's names: a coefficient c_k of
 * the entropy bonus that rises by delta after a step whose entropy e_k is at most the target, and falls by delta after
 * any other, between its bounds. In step k + 1 it is applied only if e_k was at most the target.
 */
import type { TrainConfig } from '../config/config.ts';

export type EntropyConfig = Pick<
  TrainConfig,
  | 'entropy_coef'
  | 'use_adaptive_entropy'
  | 'entropy_coef_min'
  | 'entropy_coef_max'
  | 'entropy_coef_delta'
  | 'entropy_target'
>;

/** Between two steps. */
export interface EntropyControl {
  readonly coefficient: number;
  /** Mean entropy of the last step's trained tokens, in nats; null before the first step. */
  readonly entropy: number | null;
}

/** A sum over tokens, and how many they are. */
export type TokenSum = Readonly<{ sum: number; tokens: number }>;

export function startOfEntropy({ entropy_coef }: Pick<EntropyConfig, 'entropy_coef'>): EntropyControl {
  return { coefficient: entropy_coef, entropy: null };
}

/** The coefficient of the next step's bonus. */
export function appliedCoefficient({ coefficient, entropy }: EntropyControl, config: EntropyConfig): number {
  if (!config.use_adaptive_entropy) return config.entropy_coef;
  return entropy !== null && entropy <= config.entropy_target ? coefficient : 0;
}

/** The control after a step, from the entropies of its micro-batches; as before where no token was trained. */
export function adjustedEntropy(
  control: EntropyControl,
  microBatches: readonly TokenSum[],
  config: EntropyConfig,
): EntropyControl {
  const total = (of: (part: TokenSum) => number): number => microBatches.reduce((sum, part) => sum + of(part), 0);
  const tokens = total((part) => part.tokens);
  if (tokens === 0) return control;
  const entropy = total(({ sum }) => sum) / tokens;
  const { entropy_coef_min, entropy_coef_max, entropy_coef_delta, entropy_target } = config;
  const coefficient =
    entropy <= entropy_target
      ? Math.min(control.coefficient + entropy_coef_delta, entropy_coef_max)
      : Math.max(control.coefficient - entropy_coef_delta, entropy_coef_min);
  return { coefficient, entropy };
}
