/** A step's completions grouped by prompt, and which step to show. Pure. */
import type { SampleFacts } from '../../main/api/contract/index.ts';
import { largest, smallest } from '../components/extremes.ts';
import { scaleOf } from '../components/reward-scale.ts';

/** One prompt of a step with its group's rewards. */
export interface PromptGroup {
  readonly group: number;
  readonly recordId: string;
  readonly samples: readonly SampleFacts[];
  readonly mean: number;
  readonly lowest: number;
  readonly highest: number;
  /** All rewards are equal, and no advantage is left: nothing to learn from. */
  readonly dead: boolean;
}

export type PromptOrder = 'order' | 'lowest' | 'spread';

/** The groups of a step, in the given order. */
export function promptsOf(samples: readonly SampleFacts[], order: PromptOrder = 'order'): readonly PromptGroup[] {
  const groups = [...Map.groupBy(samples, ({ group }) => group)].map(([group, of]) => summarise(group, of));
  if (order === 'lowest') return groups.sort((a, b) => a.mean - b.mean);
  if (order === 'spread') return groups.sort((a, b) => b.highest - b.lowest - (a.highest - a.lowest));
  return groups;
}

function summarise(group: number, samples: readonly SampleFacts[]): PromptGroup {
  const rewards = samples.map(({ reward }) => reward).filter((reward) => !Number.isNaN(reward));
  const [lowest, highest] = [smallest(rewards), largest(rewards)];
  return {
    group,
    samples,
    lowest,
    highest,
    recordId: samples[0]?.recordId ?? '',
    mean: rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length,
    // Of equal rewards, diversity alone can give advantages (polychromic-grpo).
    dead: rewards.length > 1 && lowest === highest && samples.every(({ advantage }) => !(Math.abs(advantage) > 1e-6)),
  };
}

/** Best first; a completion without a reward counts as the worst. */
export function byReward(samples: readonly SampleFacts[]): readonly SampleFacts[] {
  const rank = ({ reward }: SampleFacts): number => (Number.isNaN(reward) ? Number.NEGATIVE_INFINITY : reward);
  return [...samples].sort((a, b) => rank(b) - rank(a));
}

/** The saved step nearest to the one asked for; null if there is none. */
export function nearestStep(steps: readonly number[], asked: number): number | null {
  return steps.reduce<number | null>(
    (best, step) => (best === null || Math.abs(step - asked) < Math.abs(best - asked) ? step : best),
    null,
  );
}

/** The scale of a step's rewards: 0 to 1, wider if rewards exceed it. */
export function rewardScale(samples: readonly SampleFacts[]): readonly [low: number, high: number] {
  return scaleOf(samples.map(({ reward }) => reward));
}
