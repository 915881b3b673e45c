/**
 * How a server turns weights of its cross-entropy into gradients. By the protocol the loss is the sum of weight * -logp
 * over all tokens; but a server may divide each sequence's loss by its sum of weights (by 1e-9 where that is smaller, as
 * SkyRL's JAX backend does), and the gradient by the number of sequences. What it does is measured once on a model of
 * its own, by gradient norms; then weights are chosen so that the gradient is that of the loss here, times `scale`.
 */
import { BraidError } from '../../errors.ts';

export interface GradientRule {
  /** Each sequence's loss is divided by its sum of weights. */
  readonly normalised: boolean;
  /** The gradient is divided by the number of sequences. */
  readonly averaged: boolean;
}

/** The protocol's own. */
export const SUMMED: GradientRule = { normalised: false, averaged: false };

/** The least sum of weights that a normalising server divides by. */
const FLOOR = 1e-9;
/**
 * Weights of a normalising server are this much smaller still, so that their sum never reaches the floor and the divisor
 * is always the same. Adam's steps don't change with the gradient's scale, if its epsilon has the same.
 */
const SMALL = 2 ** -14;
const TOLERANCE = 0.01;

/** Gradient norms of four passes over the same sequence: one with weights 1, two with weights 3, one with the floor's. */
export interface RuleTrial {
  readonly one: number;
  readonly two: number;
  /** Of one sequence with weights `trialWeight()`; null: not measured. */
  readonly floor: number | null;
  readonly tokens: number;
}

/** A weight far below the floor. */
export const TRIAL_WEIGHT = -FLOOR * SMALL;

/** The rule that explains the norms; null: `floor` is needed to tell. Throws if none does. */
export function ruleOf({ one, two, floor, tokens }: RuleTrial): GradientRule | null {
  const ratio = two / one;
  if (near(ratio, 6)) return SUMMED;
  if (near(ratio, 3)) return { normalised: false, averaged: true };
  const normalised = near(ratio, 2) ? { normalised: true, averaged: false } : { normalised: true, averaged: true };
  if (near(ratio, 1) || near(ratio, 2)) {
    if (floor === null) return null;
    if (near(floor / one, SMALL * tokens)) return normalised;
  }
  throw new BraidError(
    'ENGINE_GRADIENT_UNKNOWN',
    `The engine applies weights in a way that isn't known here (gradient norms ${[one, two, floor].map((n) => n?.toPrecision(4) ?? 'none').join(', ')}), so the loss would be another`,
    { kind: 'input', remedy: 'Use a server version that docs/engines.md names.' },
  );
}

function near(value: number, expected: number): boolean {
  return Math.abs(value / expected - 1) < TOLERANCE;
}

/** What the server's gradient is, relative to that of the loss. */
export function scaleOf({ normalised }: GradientRule): number {
  return normalised ? SMALL : 1;
}

/** The weights to send for a sequence, from dC/dlogp; `sequences`: how many the whole step has. */
export function weightsFor(rule: GradientRule, dlogp: ArrayLike<number>, sequences: number): number[] {
  const count = rule.averaged ? sequences : 1;
  const factor = -count * (rule.normalised ? FLOOR * SMALL : 1);
  const weights = Array.from(dlogp, (value) => factor * value);
  if (rule.normalised && weights.reduce((sum, weight) => sum + weight, 0) >= FLOOR)
    throw new BraidError('ENGINE_GRADIENT_UNKNOWN', "A sequence's loss is too large for the engine's normalisation", {
      remedy: 'Use loss_type dapo, or a server that sums the loss.',
    });
  return weights;
}
