/**
 * Numbers of a run that aren't finite, or that float32 can't hold: each ends the run before it is written into a
 * checkpoint. The checks use numbers that are there anyway; finite-weights.ts has the one that doesn't.
 */
import { BraidError } from '../../errors.ts';
import { FLOAT32_RANGE } from '../../float32.ts';
import type { Advantages } from '../advantages/advantages.ts';
import type { Generation } from '../batching/generation.ts';
import type { TokenRecord } from '../batching/prompts.ts';
import { nameOfRow } from '../batching/rows.ts';

/** Records named in a message. */
const NAMED = 3;

/** What usually helps. */
const CALMER = 'Start a new run from a checkpoint before this, with a lower learning rate.';

/** An error that ends the run. `message` without a full stop. */
export function diverged(message: string, remedy: string = CALMER): BraidError {
  return new BraidError('NOT_FINITE', `${message}. Checkpoints written before are intact`, { remedy });
}

/** Weighted rewards, their spread and the advantages of a generation; `weights` null: all 1. */
export function checkRewards(
  names: readonly string[],
  rollouts: Pick<Generation, 'prompts' | 'completions' | 'rewards'>,
  { rewards, groupStd, advantages }: Pick<Advantages, 'rewards' | 'groupStd' | 'advantages'>,
  weights: readonly number[] | null,
): void {
  const size = rewards.length / groupStd.length;
  const row = rewards.findIndex((reward, i) => {
    // Unscored rewards, and the spread of a group with too few, are NaN.
    const isScored = rollouts.rewards.some((of) => !Number.isNaN(of[i]));
    const isWide = Math.abs(groupStd[Math.floor(i / size)] ?? 0) === Number.POSITIVE_INFINITY;
    return (isScored && !Number.isFinite(reward)) || isWide || !Number.isFinite(advantages[i]);
  });
  if (row < 0) return;
  const parts = names.map((name, k) => {
    const value = rollouts.rewards[k]?.[row] ?? Number.NaN;
    const weight = weights?.[k] ?? 1;
    return { name, value, weight, size: Math.abs(value * weight) };
  });
  const largest = parts.reduce((a, b) => (b.size > a.size || Number.isNaN(a.size) ? b : a));
  throw diverged(
    `The reward of ${nameOfRow(rollouts, row)}, or its distance to the others of its group, is beyond float32 (${FLOAT32_RANGE}): ${largest.name} gives ${largest.value}${largest.weight === 1 ? '' : `, times its weight ${largest.weight}`}`,
    'Bound the reward, or lower its weight, and start a new run, from the last checkpoint if you like.',
  );
}

/** The loss of a supervised step on these records. */
export function checkLoss(loss: number, records: readonly TokenRecord[]): void {
  if (Number.isFinite(loss)) return;
  const ids = [...new Set(records.map(({ record }) => record.id))];
  const more = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : '';
  throw diverged(`The loss on the targets of ${ids.slice(0, NAMED).join(', ')}${more} is ${loss}`);
}

/** The norm of a step's gradient; null: a server doesn't say. With the generation, it names what has probably done it. */
export function checkNorm(
  gradNorm: number | null,
  names: readonly string[] = [],
  generation: Generation | null = null,
): void {
  if (gradNorm === null || Number.isFinite(gradNorm)) return;
  const size = Number.isNaN(gradNorm) ? 'not a number' : `beyond float32 (${FLOAT32_RANGE})`;
  throw diverged(
    `The norm of the gradient is ${size}${generation === null ? '' : largestAdvantage(names, generation)}`,
    'Start a new run from a checkpoint before this, with a lower learning rate, or with smaller rewards, weights and coefficients where they are large.',
  );
}

/** An advantage from which on it is no longer ordinary. */
const LARGE = 1000;

function largestAdvantage(names: readonly string[], generation: Generation): string {
  const { advantages, rewards: totals } = generation.result;
  const sizes = (row: number): readonly [number, number] => [
    Math.abs(advantages[row] ?? 0),
    Math.abs(totals[row] ?? 0),
  ];
  // In a group of two, both are as far from the mean.
  const isLarger = ([a, b]: readonly [number, number], [c, d]: readonly [number, number]) =>
    a > c || (a === c && b > d);
  const row = [...advantages.keys()].reduce((best, i) => (isLarger(sizes(i), sizes(best)) ? i : best), 0);
  const advantage = advantages[row] ?? 0;
  if (Math.abs(advantage) < LARGE) return '';
  const rewards = names.map((name, k) => `${name} ${generation.rewards[k]?.[row]}`).join(', ');
  return `: ${nameOfRow(generation, row)} has an advantage of ${advantage.toExponential(1)} (${rewards})`;
}
