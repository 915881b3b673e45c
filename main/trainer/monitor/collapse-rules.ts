/** Problems in one step's metrics, with the likely cause and the remedy: one function per rule. */
import type { Metrics, WarningRule } from '../protocol/trainer-events.ts';

export interface WatchSettings {
  /** `collapse_patience`. */
  readonly patience: number;
  readonly numGenerations: number;
  readonly groupsPerGeneration: number;
  readonly numIterations: number;
  readonly temperature: number;
  readonly learningRate: number;
  readonly beta: number;
  /** Steps of the whole run. */
  readonly maxSteps: number;
  /** The maximum weighted reward; null: unknown, then no stage is ever called learned. */
  readonly highestReward: number | null;
  /** Whether a group of equal rewards teaches as well, by its diversity (polychromic-grpo). */
  readonly equalTeaches?: boolean;
  /** Whether all weights of the reward are 0. */
  readonly weightless?: boolean;
  /** Whether completions that are cut off don't count. */
  readonly masksTruncated?: boolean;
  /** Whether supervised steps on the records' targets could come first, and don't. */
  readonly canWarmUp?: boolean;
}

/** A gradient norm up to here is rounding: nothing was learned. */
export const NO_GRADIENT = 1e-8;
/** Nats per token from which a text is close to random: a language model's own are at 1 to 3. */
const RANDOM = 6;
/** Nats per token from which sampling varies enough by itself. */
const VARIED = 1;

export interface Trouble {
  /** 1, or 2 if it has become worse than the last warning. */
  readonly severity: 1 | 2;
  readonly message: string;
  readonly remedy: string;
  /** dead_groups only: the groups are dead because all their completions are identical. */
  readonly identical?: boolean;
}

/** By rule: a problem, null if healthy, undefined if the step lacks the metrics. */
export type Findings = Readonly<Record<WarningRule, Trouble | null | undefined>> & {
  readonly learned: boolean | undefined;
};

/** State from earlier steps. */
export interface WatchHistory {
  readonly startEntropy: number | null;
  readonly rewardFast: number | null;
  readonly rewardSlow: number | null;
  /** Steps since the slow mean last rose. */
  readonly flatSteps: number;
}

/** A step with at least this share of dead groups is a problem. */
export const MANY_DEAD = 0.75;
/**
 * Rewards that differ by at least this share of the maximum within groups, on average over groups, are a training signal,
 * however many groups are dead or completions alike: two groups of eight with one right completion each have it, jumps
 * to far longer texts 0.02 at most.
 */
const SIGNAL = 0.03;
/** Entropy has collapsed below this share of its initial value, and below this floor (nats per token) if it started above. */
const ENTROPY_SHARE = 0.1;
const ENTROPY_FLOOR = 0.01;
const KL_HIGH = 10;
const KL_EXPLODING = 15;
/** A mean reward below this share of the maximum is near zero. */
const NEAR_ZERO = 0.1;
/** A mean reward below this share of the maximum, with dead groups: too hard. */
const TOO_HARD = 0.5;
const UNIQUE_LOW = 0.25;
const REPETITION_HIGH = 0.5;
/** A mean reward of at least this share of the maximum means that the stage is practically learned. */
const LEARNED = 0.95;
/** The reward is rising while its fast mean is above the slow one by this share of the reward's scale. */
const RISING = 0.02;
/** Shares of a new reward in its fast and its slow mean. */
const FAST = 0.3;
const SLOW = 0.05;

/** A rise of the slow mean counts from this share of the reward's scale on. */
const RISE = 0.02;
/** A reward below this share of the maximum that doesn't rise for this share of the run, at least so many steps. */
const FAR_FROM_TOP = 0.8;
const FLAT_SHARE = 0.4;
const FLAT_STEPS = 25;

/** The rules that count whatever the model has learned: its weights are being damaged. */
export const DAMAGE: readonly WarningRule[] = ['not_finite', 'kl'];

/**
 * Applies every rule to one step. `excused`: the newest held-out score meets the goal of the stage, so nothing but damage
 * is a problem.
 */
export function troubles(metrics: Metrics, trend: WatchHistory, settings: WatchSettings, excused = false): Findings {
  const found = allTroubles(metrics, trend, settings);
  if (!excused) return found;
  const { dead_groups, repetition, entropy, no_progress } = found;
  return {
    ...found,
    dead_groups: dead_groups && null,
    repetition: repetition && null,
    entropy: entropy && null,
    no_progress: no_progress && null,
  };
}

function allTroubles(metrics: Metrics, trend: WatchHistory, settings: WatchSettings): Findings {
  const learned = isLearned(metrics, settings);
  // A policy that has learned is certain and its completions are alike, as they should be; also while it is getting there.
  const excused = learned === true || nearTop(metrics, settings) || isRising(trend, settings);
  const teaches = hasSignal(metrics['groups/spread'], settings.highestReward);
  const hasGradient = settings.equalTeaches === true && (metrics.grad_norm ?? 1) > NO_GRADIENT;
  return {
    learned,
    not_finite: notFinite(metrics, settings),
    dead_groups: deadGroups(metrics, settings, teaches || hasGradient || learned === true),
    repetition: repetition(metrics, settings, excused || teaches),
    entropy: lowEntropy(metrics, trend, excused),
    kl: highKl(metrics, settings),
    no_progress: noProgress(metrics, trend, settings),
  };
}

function notFinite(metrics: Metrics, { beta }: WatchSettings): Trouble | null | undefined {
  const bad = ['loss', 'grad_norm'].filter((name) => metrics[name] !== undefined && !Number.isFinite(metrics[name]));
  if (metrics.loss === undefined && metrics.grad_norm === undefined) return undefined;
  if (bad.length === 0) return null;
  return {
    severity: 1,
    message: `${bad.join(' and ')} ${bad.length > 1 ? 'are' : 'is'} not a finite number: there was a numerical overflow.`,
    remedy: `Go back to the last good checkpoint and lower the learning rate to a third${beta > 0 ? ', or set kl_clamp to 10' : ''}.`,
  };
}

function deadGroups(metrics: Metrics, settings: WatchSettings, teaches: boolean): Trouble | null | undefined {
  const failed = metrics.reward_failures ?? 0;
  // Where rewards failed in every group, none is counted as dead.
  if (failed > 0 && metrics['groups/dead'] === undefined) return failing(failed);
  const dead = metrics['groups/dead'] ?? metrics.frac_reward_zero_std;
  if (dead === undefined) return undefined;
  const solved = metrics['groups/solved'] ?? (nearTop(metrics, settings) ? dead : 0);
  if (dead - solved < MANY_DEAD || teaches) return null;
  if (failed >= MANY_DEAD) return failing(failed);
  if (settings.weightless === true)
    return {
      severity: 1,
      message: 'All reward_weights are 0, so every completion gets the reward 0 and there is no training signal.',
      remedy: 'Give at least one component another weight.',
    };
  if ((metrics.reward_rounded ?? 0) >= MANY_DEAD)
    return {
      severity: 1,
      message: `Rewards differ by less than float32 can tell apart in ${ofGroups(metrics.reward_rounded ?? 0, metrics, settings)}, so there is no training signal.`,
      remedy: 'Take what all rewards have in common out of them, or make them smaller: float32 has 7 digits.',
    };
  const { entropy = 0 } = metrics;
  if (entropy >= RANDOM)
    return {
      severity: 1,
      message: `The model's text is close to random (entropy ${entropy.toFixed(1)} nats per token), so the completions of a group all get the same reward in ${ofGroups(dead, metrics, settings)}.`,
      remedy: `Go back to an earlier checkpoint and lower the learning rate (now ${settings.learningRate}).`,
    };
  const identical = metrics['completions/identical_groups'] ?? 0;
  if (identical >= MANY_DEAD) {
    return {
      severity: 1,
      identical: true,
      message: `All ${settings.numGenerations} completions are identical in ${ofGroups(identical, metrics, settings)}, so there is no training signal.`,
      remedy: `${warmer(settings)}, or train on easier records first.`,
    };
  }
  const clipped = metrics['completions/clipped_ratio'] ?? 0;
  const reward = metrics.reward ?? Number.NaN;
  const start = `The completions of a group all get the same reward in ${ofGroups(dead, metrics, settings)} (mean reward ${reward.toFixed(2)}), so there is no training signal.`;
  if (clipped >= MANY_DEAD) {
    return {
      severity: 1,
      message: `${start} ${percent(clipped)} of the completions hit max_completion_length before they end.`,
      remedy: `Raise max_completion_length, ask for a shorter answer in the prompt, or ${settings.canWarmUp === true ? WARM_UP : 'train on easier records first'}.`,
    };
  }
  const { highestReward: highest } = settings;
  // Where the best isn't known, or they nearly reach it, "too hard" would be a guess.
  const isFar = highest !== null && reward < topFrom(TOO_HARD, highest);
  return {
    severity: 1,
    message: `${start} ${isFar ? 'The records are probably too hard for this model.' : 'The reward does not tell them apart.'}`,
    remedy: isFar
      ? `${easier(settings)}, or ${differing(settings, entropy)}.`
      : `Use a reward that tells them apart, as one that counts what is partly right does, train on easier records first, or ${differing(settings, entropy)}.`,
  };
}

/** What makes completions of a group differ. A text that varies already only gets worse from a higher temperature. */
function differing(settings: WatchSettings, entropy: number): string {
  if (entropy >= VARIED) return 'raise num_generations so that a better completion turns up';
  return `${warmer(settings).toLowerCase()} or num_generations so that completions differ`;
}

const WARM_UP = 'warm the model up on the targets first (warm_up_steps)';

/** What brings a model near the reward at all. */
function easier({ canWarmUp }: WatchSettings): string {
  if (canWarmUp !== true) return 'Train on easier records first';
  return `${WARM_UP.charAt(0).toUpperCase()}${WARM_UP.slice(1)}, train on easier records`;
}

function failing(failed: number): Trouble {
  return {
    severity: 1,
    message: `The reward failed on ${percent(failed)} of the completions, and no group gives a training signal.`,
    remedy:
      'Read why with the stored completions, and fix the reward, or the server that it asks, before you continue.',
  };
}

function repetition(metrics: Metrics, settings: WatchSettings, excused: boolean): Trouble | null | undefined {
  const unique = metrics['completions/unique_ratio'];
  const repeated = metrics['completions/repetition'];
  if (unique === undefined && repeated === undefined) return undefined;
  if (repeated !== undefined && repeated >= REPETITION_HIGH && !nearTop(metrics, settings)) {
    return {
      severity: 1,
      message: `${percent(repeated)} of the four-token sequences repeat an earlier one of the same completion: the model is looping.`,
      remedy:
        'Set repetition_penalty to 1.1 if it did so from the start, or go back to an earlier checkpoint with a lower learning rate.',
    };
  }
  if (unique !== undefined && unique <= Math.max(UNIQUE_LOW, 1 / settings.numGenerations) && !excused) {
    const different = Math.max(1, unique * settings.numGenerations);
    return {
      severity: 1,
      message: `Only about ${different.toFixed(1)} of the ${settings.numGenerations} completions of a group differ: sampling barely explores.`,
      remedy: `${warmer(settings)}, or go back to an earlier checkpoint with a lower learning rate.`,
    };
  }
  return null;
}

function lowEntropy(metrics: Metrics, trend: WatchHistory, excused: boolean): Trouble | null | undefined {
  const { entropy } = metrics;
  if (entropy === undefined || trend.startEntropy === null) return undefined;
  const start = trend.startEntropy;
  // A model that starts out nearly certain is only compared with its own start.
  const floor = Math.max(ENTROPY_SHARE * start, start > 2 * ENTROPY_FLOOR ? ENTROPY_FLOOR : 0);
  if (!(entropy < floor) || excused) return null;
  return {
    severity: 1,
    message: `The entropy has fallen to ${entropy.toPrecision(2)} from ${start.toPrecision(2)} at the start while the reward no longer rises: the model is nearly certain of every token and has stopped exploring.`,
    remedy:
      'Go back to an earlier checkpoint and lower the learning rate, or set entropy_coef to 0.001, or epsilon_high to 0.28.',
  };
}

function highKl(metrics: Metrics, settings: WatchSettings): Trouble | null | undefined {
  const { kl } = metrics;
  if (kl === undefined) return undefined;
  if (Number.isFinite(kl) && kl <= KL_HIGH) return null;
  const remedy = `Go back to the last good checkpoint and lower the learning rate (now ${settings.learningRate})${settings.beta < 0.04 ? ' or raise beta to 0.04' : ''}`;
  if (!Number.isFinite(kl) || kl > KL_EXPLODING) {
    const size = Number.isFinite(kl) ? `${kl.toFixed(1)} nats per token` : 'not a finite number';
    return {
      severity: 2,
      message: `The KL divergence from the reference is exploding (${size}): the model no longer resembles the reference.`,
      remedy: `${remedy}; kl_clamp 10 prevents overflow on single tokens.`,
    };
  }
  return {
    severity: 1,
    message: `The KL divergence from the reference is ${kl.toFixed(1)} nats per token: the model is drifting far from the reference.`,
    remedy: `${remedy}.`,
  };
}

function noProgress(metrics: Metrics, trend: WatchHistory, settings: WatchSettings): Trouble | null | undefined {
  const { reward } = metrics;
  const { highestReward, maxSteps } = settings;
  if (reward === undefined) return undefined;
  // Where the best possible reward isn't known, a flat curve may be success.
  if (highestReward === null || !isFarFromTop(reward, highestReward)) return null;
  if (trend.flatSteps < flatLimit(maxSteps) || isRising(trend, settings)) return null;
  return {
    severity: 1,
    message: `The reward has not risen for ${trend.flatSteps} steps. At ${(trend.rewardSlow ?? reward).toFixed(2)} it is far from the best possible ${short(highestReward)}: what the completions of a group differ in doesn't bring the model closer.`,
    remedy: `${easier(settings)}, or raise num_generations so that a better completion turns up.`,
  };
}

/**
 * Whether GRPO has hardly anything to reinforce, and would take hundreds of steps to find more: a model of 135M parameters
 * went from 0.04 to 0.10 in 40 steps, and after a warm-up from 0.31 to 0.53 in 25. Never true without a known maximum.
 */
export function isNearZero(reward: number, highestReward: number | null): boolean {
  return highestReward !== null && highestReward > 0 && reward < NEAR_ZERO * highestReward;
}

/** Whether a flat reward would be a problem. */
export function isFarFromTop(reward: number, highestReward: number): boolean {
  // With a maximum of 0, a penalty, there is no scale to call anything far.
  return highestReward !== 0 && reward < topFrom(FAR_FROM_TOP, highestReward);
}

/** What lacks 1 − share of the maximum's size to the maximum, which may be 0 or negative. */
export function topFrom(share: number, highestReward: number): number {
  return highestReward - (1 - share) * Math.abs(highestReward);
}

/** Steps without a rise from which on the reward of a run of so many steps counts as flat. */
export function flatLimit(maxSteps: number): number {
  return Math.max(FLAT_STEPS, FLAT_SHARE * maxSteps);
}

/** Follows the reward by one step: its fast and slow means, and for how long the slow one hasn't risen. */
export function followReward(before: RewardTrend, reward: number, scale: number): RewardTrend {
  const { rewardFast, rewardSlow, bestReward, flatSteps } = before;
  const fast = rewardFast === null ? reward : rewardFast + FAST * (reward - rewardFast);
  const slow = rewardSlow === null ? reward : rewardSlow + SLOW * (reward - rewardSlow);
  const rises = bestReward === null || slow >= bestReward + RISE * scale;
  return {
    rewardFast: fast,
    rewardSlow: slow,
    bestReward: rises ? slow : bestReward,
    flatSteps: rises ? 0 : flatSteps + 1,
  };
}

/** Before the first reward. */
export const NO_TREND: RewardTrend = { rewardFast: null, rewardSlow: null, bestReward: null, flatSteps: 0 };

export interface RewardTrend {
  /** Running means of the reward: rising while fast is well above slow. */
  readonly rewardFast: number | null;
  readonly rewardSlow: number | null;
  /** The slow mean when it last rose, and the steps since. */
  readonly bestReward: number | null;
  readonly flatSteps: number;
}

function isLearned(metrics: Metrics, settings: WatchSettings): boolean | undefined {
  const dead = metrics['groups/dead'] ?? metrics.frac_reward_zero_std;
  if (dead === undefined) return undefined;
  return dead >= MANY_DEAD && nearTop(metrics, settings);
}

function nearTop(metrics: Metrics, settings: WatchSettings): boolean {
  const { highestReward } = settings;
  return highestReward !== null && metrics.reward !== undefined && metrics.reward >= topFrom(LEARNED, highestReward);
}

/**
 * Whether the rewards within groups differ enough to learn from: `spread` is their standard deviation, mean over groups.
 * Never true without a known maximum.
 */
export function hasSignal(spread: number | undefined, highestReward: number | null): boolean {
  return spread !== undefined && spread > 0 && !!highestReward && spread >= SIGNAL * Math.abs(highestReward);
}

function isRising({ rewardFast, rewardSlow }: WatchHistory, settings: WatchSettings): boolean {
  if (rewardFast === null || rewardSlow === null) return false;
  const scale = Math.abs(settings.highestReward ?? 0) || Math.max(Math.abs(rewardSlow), 1e-6);
  return rewardFast - rewardSlow > RISING * scale;
}

function warmer({ temperature }: WatchSettings): string {
  return temperature < 1 ? 'Raise the temperature to 1.0' : `Raise the temperature (now ${temperature})`;
}

function ofGroups(
  share: number,
  { reward_failures: failed = 0 }: Metrics,
  { groupsPerGeneration }: WatchSettings,
): string {
  // Groups without a score aren't in the share.
  if (failed > 0) return `${percent(share)} of the scored groups`;
  return `${Math.round(share * groupsPerGeneration)} of ${groupsPerGeneration} groups`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}
