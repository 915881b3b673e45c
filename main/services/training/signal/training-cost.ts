/** What the training part of a step takes, by how many of its groups teach. Pure. */
import type { TrainConfig } from '../../../trainer/config/config.ts';
import { hasPolicyTermOnly } from '../../../trainer/losses/losses.ts';
import type { GroupOutcome } from '../../../trainer/protocol/trainer-events.ts';

/** A forward pass, of forward and backward: a row without an advantage has no gradient (micro-batch-loss.ts). */
const FORWARD_SHARE = 1 / 3;

export type CostConfig = Pick<
  TrainConfig,
  'beta' | 'entropy_coef' | 'engine' | 'use_adaptive_entropy' | 'multi_objective_aggregation'
>;

/** What training takes at a share of groups that teach, against a share of 1. */
export type TrainingCost = (teaches: number) => number;

export function trainingCost(config: CostConfig): TrainingCost {
  const { engine, use_adaptive_entropy, multi_objective_aggregation } = config;
  // Sums of normalised rewards are 0 up to rounding: rows of a dead group have a gradient, next to nothing.
  const hasZeros = multi_objective_aggregation === 'sum_then_normalize';
  const isForwardOnly = engine === null && hasPolicyTermOnly(config) && !use_adaptive_entropy && hasZeros;
  const idle = isForwardOnly ? FORWARD_SHARE : 1;
  return (teaches) => teaches + idle * (1 - teaches);
}

export function teachingShare(groups: readonly GroupOutcome[]): number {
  if (groups.length === 0) return 0;
  return groups.filter(({ outcome }) => outcome === 'teaches').length / groups.length;
}
