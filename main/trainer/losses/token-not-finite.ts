/** Why a token's loss or its gradient isn't a number that float32 can hold. */
import type { BraidError } from '../../errors.ts';
import { FLOAT32_RANGE } from '../../float32.ts';
import type { TrainConfig } from '../config/config.ts';
import { diverged } from './not-finite.ts';

/** A micro-batch, matrices [B,T] row after row. */
interface Matrices {
  readonly columns: number;
  readonly logps: ArrayLike<number>;
  readonly refLogps: ArrayLike<number> | null;
  readonly entropies: ArrayLike<number>;
  readonly nameOf?: (row: number) => string;
}

interface Place {
  /** Of the batch [B,T]. */
  readonly row: number;
  readonly place: number;
  readonly ratio: number;
}

/** From here on e^d is beyond float32. */
const LARGEST_EXPONENT = 88;

/** The error that ends the run, with what is probably the cause. */
export function tokenNotFinite(
  { logps, refLogps, entropies, columns, nameOf = (row) => `row ${row + 1} of the micro-batch` }: Matrices,
  { row, place, ratio }: Place,
  { beta, kl_clamp }: Pick<TrainConfig, 'beta' | 'kl_clamp'>,
): BraidError {
  const token = `token ${place - row * columns + 1} of ${nameOf(row)}`;
  const logp = logps[place] ?? Number.NaN;
  if (!Number.isFinite(logp) || !Number.isFinite(entropies[place] ?? Number.NaN))
    return diverged(
      `The model gives ${token} a probability that is not a number: its weights, its activations or its logits over the temperature overflow`,
    );
  if (!Number.isFinite(refLogps?.[place] ?? 0))
    return diverged(
      `The reference gives ${token} a probability that is not a number: its weights or activations overflow`,
    );
  const d = (refLogps?.[place] ?? logp) - logp;
  if (beta !== 0 && kl_clamp === null && d > LARGEST_EXPONENT / 2)
    return diverged(
      `The KL term of ${token} is beyond float32 (${FLOAT32_RANGE}): the reference gives it e^${d.toFixed(0)} times the policy's probability`,
      'Start a new run from a checkpoint before this with kl_clamp 10, or with a lower learning rate.',
    );
  if (ratio > 1e6)
    return diverged(
      `The policy's ratio at ${token} is ${ratio.toExponential(1)}, so that its loss is beyond float32 (${FLOAT32_RANGE}): the policy has moved far from the one that sampled`,
      'Start a new run from a checkpoint before this with delta 10, fewer num_iterations, or a lower learning rate.',
    );
  return diverged(
    `The loss of ${token} is beyond float32 (${FLOAT32_RANGE}): rewards or coefficients are too large`,
    'Lower them, and start a new run, from a checkpoint before this if you like.',
  );
}
