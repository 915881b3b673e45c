/** The score of a trial: held-out where its run is evaluated, otherwise the reward of its last steps. */
import type { Store } from '../../store/index.ts';
import { meanOf } from '../../text/intervals.ts';
import { trainingScores } from '../runs/promotion.ts';

export interface TrialScore {
  readonly kind: 'held-out' | 'reward';
  readonly step: number;
  readonly value: number;
}

/** Steps whose reward is averaged: one batch alone is noisy. */
const LAST_STEPS = 10;

/** The newest held-out score up to a step; without any evaluation the training reward. Null before the first. */
export function scoreOf(
  store: Pick<Store, 'evaluations' | 'metrics'>,
  runId: number,
  upTo = Number.POSITIVE_INFINITY,
): TrialScore | null {
  const heldOut = trainingScores(store, runId).findLast(({ step, mean }) => step <= upTo && Number.isFinite(mean));
  if (heldOut !== undefined) return { kind: 'held-out', step: heldOut.step, value: heldOut.mean };
  return rewardOf(store, runId, upTo);
}

/** The training reward up to a step. Null before the first. */
export function rewardOf(
  { metrics }: Pick<Store, 'metrics'>,
  runId: number,
  upTo = Number.POSITIVE_INFINITY,
): TrialScore | null {
  const rewards = metrics.series(runId, 'reward').filter(({ step }) => step <= upTo);
  const last = rewards.slice(-LAST_STEPS);
  const end = last.at(-1);
  return end === undefined ? null : { kind: 'reward', step: end.step, value: meanOf(last.map(({ value }) => value)) };
}
