/**
 * What to do with a run, by the rewards of the groups that a pre-flight check sampled: start it, warm the model up first,
 * or train on another dataset. Pure.
 */
import { counted } from '../../text/format.ts';
import { meanOf } from '../../text/intervals.ts';
import { advisedWarmUp, type TrainConfig } from '../../trainer/config/config.ts';
import type { PreflightResult } from '../../trainer/jobs/preflight.ts';
import { isNearZero, topFrom } from '../../trainer/monitor/collapse-rules.ts';

export interface StartAdvice {
  readonly do: 'start' | 'warm_up' | 'easier_dataset' | 'harder_dataset';
  /** What to do, and why. */
  readonly sentence: string;
  /** Steps to set warm_up_steps to; null: it stays as it is. */
  readonly warm_up_steps: number | null;
  /** Of the model that the run starts from, before any warm-up. */
  readonly baseline: Baseline;
}

export interface Baseline {
  readonly reward: number;
  /** Standard deviation within a group, mean over groups. */
  readonly spread: number;
  readonly groups: number;
  /** Groups whose rewards differ. */
  readonly differing: number;
}

/** Rewards of the sampled groups, by what they teach. */
export interface SampledRewards extends Baseline {
  readonly best: number;
  readonly completions: number;
  /** Completions of a group. */
  readonly size: number;
  /** Whether the model can already do this. */
  readonly isSolved: boolean;
}

/** A group with a smaller reward spread gives no signal. */
const EQUAL = 1e-8;
const SOLVED_SHARE = 0.98;
/** GRPO reinforces what it samples: one rare completion with half of the maximum is found again, however low the mean. */
const WORTH_REINFORCING = 0.5;

/** The rewards of each group, in order. */
export function rewardsByGroup(samples: PreflightResult['samples']): readonly (readonly number[])[] {
  return [...Map.groupBy(samples, ({ group }) => group).values()].map((group) => group.map(({ reward }) => reward));
}

/** null: no reward has a number. */
export function sampledRewards({ samples, highestReward }: PreflightResult): SampledRewards | null {
  const scored = samples.filter(({ reward }) => !Number.isNaN(reward));
  if (scored.length === 0) return null;
  const groups = rewardsByGroup(scored);
  const spreads = groups.map(deviation);
  const differing = spreads.filter((value) => value > EQUAL).length;
  const reward = meanOf(scored.map((sample) => sample.reward));
  // A group whose completions are all right is not a reason to make the task easier.
  const top = highestReward === null ? Number.POSITIVE_INFINITY : topFrom(SOLVED_SHARE, highestReward);
  const solved = groups.filter((rewards, g) => (spreads[g] ?? 0) <= EQUAL && meanOf(rewards) >= top).length;
  return {
    reward,
    spread: meanOf(spreads),
    groups: groups.length,
    differing,
    completions: scored.length,
    size: groups[0]?.length ?? 0,
    best: scored.reduce((best, sample) => Math.max(best, sample.reward), Number.NEGATIVE_INFINITY),
    isSolved: reward >= top || 2 * solved > groups.length,
  };
}

/** Standard deviation of a group's rewards, with Bessel's correction like `groups/spread`; 0 of a single one. */
function deviation(rewards: readonly number[]): number {
  const mean = meanOf(rewards);
  const squares = rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0);
  return Math.sqrt(squares / Math.max(1, rewards.length - 1));
}

/** The advice; null where the rewards can't say: there are none, they all failed, or all weigh 0. */
export function startAdvice(result: PreflightResult, config: TrainConfig): StartAdvice | null {
  const rewards = sampledRewards(result);
  if (rewards === null || config.reward_weights?.every((weight) => weight === 0)) return null;
  const { reward, spread, groups, differing, best, completions, isSolved } = rewards;
  const baseline = { reward, spread, groups, differing };
  const advise = (what: StartAdvice['do'], sentence: string, steps: number | null = null): StartAdvice => ({
    do: what,
    sentence,
    warm_up_steps: steps,
    baseline,
  });
  const mean = `the mean reward is ${reward.toFixed(3)}`;
  const seen = `rewards differ in ${differing} of ${counted(groups, 'group')}, and ${mean}`;
  if (isSolved) return advise('harder_dataset', `Use a harder dataset: ${mean}, so the model can already do this.`);

  const { highestReward, targets } = result;
  const { warm_up_steps: planned, from_checkpoint: from, method } = config;
  const isLost =
    isNearZero(reward, highestReward) && highestReward !== null && best < WORTH_REINFORCING * highestReward;
  // A few groups that differ are enough to begin with: the bundled model learns its job from two of twenty-four.
  // Polychromic groups of equal rewards teach by their diversity, unless their mean is 0.
  const areDead = differing === 0 && !(method === 'polychromic-grpo' && reward !== 0);
  if (!isLost && !areDead) return advise('start', `Start: ${seen}.`);
  if (planned > 0)
    return advise('start', `Start: ${seen}, but ${counted(planned, 'supervised step')} on the targets come first.`);

  const why = isLost
    ? `${mean}, and none of ${counted(completions, 'completion')} gets half of the maximum, so there is little to reinforce`
    : `${seen}, so there is little to learn from`;
  // A model that was trained before and still gives no signal has come to records that are too far from those.
  if (targets > 0 && (isLost || from === null)) {
    const steps = advisedWarmUp(targets, config);
    return advise('warm_up', `Warm up first, by ${counted(steps, 'supervised step')} on the targets: ${why}.`, steps);
  }
  const noTargets = targets > 0 ? '' : ', and the records have no targets to warm up on';
  return advise('easier_dataset', `Use an easier dataset first, and start from its checkpoint: ${why}${noTargets}.`);
}
