/**
 * The signal budget of a run: which of the groups that it sampled had something to teach, and what each setting that
 * avoids groups without spread would have saved, in seconds, on the run's own history. Pure.
 *
 * A saving compares seconds per group that teaches: S seconds of the run taught U such groups; a setting under which
 * the same steps take S' and teach U' saves S − U · S' / U'. Estimates: the history is that of the run as it was.
 */
import type { TrainConfig } from '../../../trainer/config/config.ts';
import type { GroupOutcome } from '../../../trainer/protocol/trainer-events.ts';
import { type ReplayRefusal, replayDifficulty } from './replay-difficulty.ts';
import type { RecordWords, SignalStep } from './signal-step.ts';
import { type CostConfig, type TrainingCost, teachingShare, trainingCost } from './training-cost.ts';

/** Shares of the groups sampled from step `from` to step `to`; they add up to 1. */
export interface SignalBin {
  readonly from: number;
  readonly to: number;
  readonly teaches: number;
  readonly solved: number;
  readonly dead: number;
}

export const SIGNAL_SETTINGS = [
  'dynamic_sampling',
  'greso_exploration',
  'pods_update_size',
  'adarft_target_reward',
  'scale_rewards',
  'use_adaptive_entropy',
] as const;
export type SignalSetting = (typeof SIGNAL_SETTINGS)[number];

/**
 * Why there is no saving: no group taught anything (that the setting would have sampled), it changes the update, it can't
 * work with the run's rewards, …
 */
export type UnknownSaving = 'no_signal' | 'changes_update' | 'negative_rewards' | ReplayRefusal;

export interface SignalSaving {
  readonly setting: SignalSetting;
  /** Whether the run used it: then there is nothing to save. */
  readonly isUsed: boolean;
  /** A setting of the run that rules this one out. */
  readonly conflict: keyof TrainConfig | null;
  /** Negative: it would have cost that much. null: in use, ruled out, or not known. */
  readonly seconds: number | null;
  readonly unknown: UnknownSaving | null;
  /** What switches it on in the next run; null: in use, ruled out, or without effect there. */
  readonly change: Partial<TrainConfig> | null;
}

/** What is known of a setting that the run could have used. */
type Estimate = Pick<SignalSaving, 'change'> & { readonly seconds: number | UnknownSaving };

export interface SignalBudget {
  readonly bins: readonly SignalBin[];
  /** Distinct prompts, by the outcome of the last group that each had. */
  readonly prompts: Readonly<Record<GroupOutcome['outcome'], number>>;
  readonly groups: number;
  /** Of the run's steps, and the part of it spent on groups that taught nothing. */
  readonly seconds: number;
  readonly wasted: number;
  readonly savings: readonly SignalSaving[];
}

/** Points over a run. */
const BINS = 60;
/** Rounds of dynamic sampling, and GRESO's probability to draw a prompt again after one dead group. */
const ROUNDS = 3;
const EXPLORATION = 0.5;

type SignalConfig = CostConfig &
  Pick<
    TrainConfig,
    | SignalSetting
    | 'num_generations'
    | 'per_device_train_batch_size'
    | 'reward_weights'
    | 'multi_objective_aggregation'
    | 'adarft_sensitivity'
    | 'adarft_step_size'
  >;

/**
 * The budget of a run's steps that sampled groups, oldest first; null without any. `words` and `hasNegative`, whether any
 * reward of the run was below 0, are asked if they matter.
 */
export function signalBudget(
  steps: readonly SignalStep[],
  config: SignalConfig,
  words: () => RecordWords,
  hasNegative: () => boolean,
): SignalBudget | null {
  const groups = steps.flatMap((step) => step.groups);
  if (groups.length === 0) return null;
  const cost = trainingCost(config);
  const wasted = sum(steps, (step) => {
    const teaches = teachingShare(step.groups);
    const onIdle = 1 - teaches / cost(teaches);
    return step.sampling * (1 - teaches) + step.training * onIdle;
  });
  return {
    bins: binsOf(steps),
    prompts: count([...new Map(groups.map((group) => [group.recordId, group])).values()]),
    groups: groups.length,
    seconds: secondsOf(steps),
    wasted,
    savings: savingsOf(steps, config, cost, words, hasNegative),
  };
}

function savingsOf(
  steps: readonly SignalStep[],
  config: SignalConfig,
  cost: TrainingCost,
  words: () => RecordWords,
  hasNegative: () => boolean,
): SignalSaving[] {
  const updates = (change: Partial<TrainConfig>): Estimate => ({ seconds: 'changes_update', change });
  const estimates: Readonly<Record<SignalSetting, () => Estimate | null>> = {
    dynamic_sampling: () => dynamicSampling(steps, cost),
    greso_exploration: () => greso(steps, cost),
    pods_update_size: () => pods(steps, config),
    adarft_target_reward: () => adarft(steps, config, cost, words()),
    // The next run would end at the first of them (NEGATIVE_REWARD).
    scale_rewards: () =>
      hasNegative() ? { seconds: 'negative_rewards', change: null } : updates({ scale_rewards: 'mean' }),
    use_adaptive_entropy: () => updates({ use_adaptive_entropy: true }),
  };
  return SIGNAL_SETTINGS.flatMap((setting): SignalSaving[] => {
    const [isUsed, conflict] = [inUse(setting, config), conflictOf(setting, config)];
    const idle = { setting, isUsed, conflict, seconds: null, unknown: null, change: null };
    if (isUsed || conflict !== null) return [idle];
    const estimate = estimates[setting]();
    if (estimate === null) return [];
    const { seconds, change } = estimate;
    return [{ ...idle, change, ...(typeof seconds === 'number' ? { seconds } : { unknown: seconds }) }];
  });
}

function inUse(setting: SignalSetting, config: SignalConfig): boolean {
  if (setting === 'dynamic_sampling') return config.dynamic_sampling > 0;
  if (setting === 'scale_rewards') return config.scale_rewards === 'mean';
  return setting === 'use_adaptive_entropy' ? config.use_adaptive_entropy : config[setting] !== null;
}

/** What of the configuration a setting would contradict (config/combinations.ts), or by which it would be ignored. */
function conflictOf(setting: SignalSetting, config: SignalConfig): keyof TrainConfig | null {
  if (setting === 'scale_rewards') {
    if (config.reward_weights?.some((weight) => weight < 0)) return 'reward_weights';
    return config.multi_objective_aggregation === 'normalize_then_sum' ? 'multi_objective_aggregation' : null;
  }
  const others: Partial<Record<SignalSetting, readonly SignalSetting[]>> = {
    dynamic_sampling: ['adarft_target_reward'],
    greso_exploration: ['adarft_target_reward'],
    adarft_target_reward: ['dynamic_sampling', 'greso_exploration'],
  };
  return others[setting]?.find((other) => inUse(other, config)) ?? null;
}

function binsOf(steps: readonly SignalStep[]): SignalBin[] {
  const size = Math.ceil(steps.length / BINS);
  return Array.from({ length: Math.ceil(steps.length / size) }, (_, i) => {
    const part = steps.slice(i * size, (i + 1) * size);
    const groups = part.flatMap((step) => step.groups);
    const { teaches, solved, dead } = count(groups);
    const [from, to] = [part[0]?.step ?? 0, part.at(-1)?.step ?? 0];
    const share = (number: number): number => number / groups.length;
    return { from, to, teaches: share(teaches), solved: share(solved), dead: share(dead) };
  });
}

/** Each round samples the groups again that are dead, and of those the same share is dead once more. */
function dynamicSampling(steps: readonly SignalStep[], cost: TrainingCost): Estimate {
  let [seconds, teaching] = [0, 0];
  for (const { groups, sampling, training, total } of steps) {
    const teaches = teachingShare(groups);
    const dead = 1 - teaches;
    const then = 1 - dead ** (ROUNDS + 1);
    const again = Array.from({ length: ROUNDS }, (_, round) => dead ** (round + 1)).reduce((a, b) => a + b);
    seconds += total + sampling * again + training * (cost(then) / cost(teaches) - 1);
    teaching += groups.length * then;
  }
  return { seconds: saved(steps, seconds, teaching), change: { dynamic_sampling: ROUNDS } };
}

/** A group counts as far as its prompt would have been drawn, given the outcomes of its groups before. */
function greso(steps: readonly SignalStep[], cost: TrainingCost): Estimate {
  const groups = steps.flatMap((step) => step.groups);
  const deadInRow = new Map<string, number>();
  let [drawn, teaching] = [0, 0];
  for (const { recordId, outcome } of groups) {
    const before = deadInRow.get(recordId) ?? 0;
    const probability = EXPLORATION ** before;
    drawn += probability;
    if (outcome === 'teaches') teaching += probability;
    deadInRow.set(recordId, outcome === 'teaches' ? 0 : before + 1);
  }
  // The places of prompts that were skipped go to others, of which the same share teaches.
  const then = teaching / drawn;
  const more = sum(steps, ({ training }) => training) * (cost(then) / cost(teachingShare(groups)) - 1);
  const seconds = saved(steps, secondsOf(steps) + more, then * groups.length);
  return { seconds, change: { greso_exploration: EXPLORATION } };
}

/** Half of each group is left out of the loss; as many groups as before, in smaller micro-batches. */
function pods(steps: readonly SignalStep[], config: SignalConfig): Estimate | null {
  const size = Math.floor(config.num_generations / 2);
  const rows = (config.per_device_train_batch_size / config.num_generations) * size;
  if (size < 2 || !Number.isInteger(rows)) return null;
  const training = sum(steps, (step) => step.training);
  return {
    seconds: training * (1 - size / config.num_generations),
    change: { pods_update_size: size, per_device_train_batch_size: rows },
  };
}

/** The target is the mean reward of the groups that taught, rounded: that is where AdaRFT wants prompts to be. */
function adarft(steps: readonly SignalStep[], config: SignalConfig, cost: TrainingCost, words: RecordWords): Estimate {
  const rewards = steps
    .flatMap((step) => step.groups)
    .flatMap(({ outcome, reward }) => (outcome === 'teaches' && !Number.isNaN(reward) ? [reward] : []));
  if (rewards.length === 0) return { seconds: 'no_signal', change: null };
  const targetReward = Math.round((100 * sum(rewards, (reward) => reward)) / rewards.length) / 100;
  const { adarft_sensitivity: sensitivity, adarft_step_size: stepSize } = config;
  const replayed = replayDifficulty(steps, words, cost, { targetReward, sensitivity, stepSize });
  const change = replayed === 'one_length' ? null : { adarft_target_reward: targetReward };
  if (typeof replayed === 'string') return { seconds: replayed, change };
  return { seconds: saved(steps, replayed.seconds, replayed.teaching), change };
}

/** Seconds saved if the same steps took `seconds` and taught `teaching` groups. */
function saved(steps: readonly SignalStep[], seconds: number, teaching: number): number | 'no_signal' {
  const taught = sum(steps, ({ groups }) => count(groups).teaches);
  return taught === 0 || teaching === 0 ? 'no_signal' : secondsOf(steps) - taught * (seconds / teaching);
}

function secondsOf(steps: readonly SignalStep[]): number {
  return sum(steps, ({ total }) => total);
}

function count(groups: readonly GroupOutcome[]): Record<GroupOutcome['outcome'], number> {
  const counts = { teaches: 0, solved: 0, dead: 0 };
  for (const { outcome } of groups) counts[outcome]++;
  return counts;
}

function sum<T>(values: readonly T[], of: (value: T) => number): number {
  return values.reduce((total, value) => total + of(value), 0);
}
