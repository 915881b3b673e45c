/** The scale that rewards are drawn on. Pure. */
import { largest, smallest } from './extremes.ts';

/** 0 to 1, wider if rewards exceed it; missing rewards don't count. */
export function scaleOf(rewards: readonly number[]): readonly [low: number, high: number] {
  const known = rewards.filter((reward) => !Number.isNaN(reward));
  return [smallest(known, 0), largest(known, 1)];
}
