/**
 * Prompts whose difficulty follows the reward: AdaRFT (Shi et al. 2025, arXiv 2504.05520), the ladder of a curriculum
 * made continuous. A generation takes the P records whose difficulties are nearest to a target T, and afterwards
 * T ← clip(T + η · tanh(α · (mean reward − β)), lowest, highest): it rises while the mean reward is above β. T starts at
 * the lowest difficulty. Ours: a record's difficulty is the number of words of its reference completion, and records
 * that are equally near are taken in a random order, so that prompts change from generation to generation.
 */
import { inputError } from '../../errors.ts';
import { hashString, randomStream, shuffled } from '../../random.ts';
import type { TrainConfig } from '../config/config.ts';
import type { Metrics } from '../protocol/trainer-events.ts';

export type DifficultyConfig = Pick<
  TrainConfig,
  'adarft_target_reward' | 'adarft_sensitivity' | 'adarft_step_size' | 'seed'
>;

/** How the target moves. */
export interface DifficultyRule {
  readonly lowest: number;
  readonly highest: number;
  /** β, α, η. */
  readonly targetReward: number;
  readonly sensitivity: number;
  readonly stepSize: number;
}

export interface DifficultyPlan extends DifficultyRule {
  /** By record, in words. */
  readonly difficulties: readonly number[];
  readonly seed: number;
}

const NEAREST_STREAM = hashString('adarft');

/**
 * The plan for records of these difficulties; null if prompts don't follow the reward. Records that are all equally
 * difficult are refused: there would be nothing to choose by, and every prompt drawn at random.
 */
export function planDifficulty(config: DifficultyConfig, difficulties: readonly number[]): DifficultyPlan | null {
  if (config.adarft_target_reward === null || difficulties.length === 0) return null;
  const lowest = difficulties.reduce((a, b) => Math.min(a, b));
  const highest = difficulties.reduce((a, b) => Math.max(a, b));
  if (lowest === highest) {
    throw inputError(
      'ONE_DIFFICULTY',
      highest === 0
        ? 'adarft_target_reward chooses prompts by the length of their reference completions, and the task has none'
        : `adarft_target_reward chooses prompts by the length of their reference completions, and all of them have ${highest} words`,
      `Set adarft_target_reward to null, or use ${highest === 0 ? 'a task with a "target"' : 'a dataset of several lengths'}.`,
    );
  }
  return {
    difficulties,
    lowest,
    highest,
    targetReward: config.adarft_target_reward,
    sensitivity: config.adarft_sensitivity,
    stepSize: config.adarft_step_size,
    seed: config.seed,
  };
}

/** The `count` records nearest to the target, each once; all again if there are fewer. */
export function nearestRecords(plan: DifficultyPlan, target: number, generation: number, count: number): number[] {
  const { difficulties, seed } = plan;
  const distance = (record: number): number => Math.abs((difficulties[record] ?? 0) - target);
  const nearest = shuffled([...difficulties.keys()], randomStream(seed, NEAREST_STREAM, generation)).sort(
    (a, b) => distance(a) - distance(b),
  );
  return Array.from({ length: count }, (_, i) => nearest[i % nearest.length] ?? 0);
}

/** T after a generation of this mean reward. */
export function nextTarget(rule: DifficultyRule, target: number, reward: number): number {
  if (Number.isNaN(reward)) return target;
  const moved = target + rule.stepSize * Math.tanh(rule.sensitivity * (reward - rule.targetReward));
  return Math.min(rule.highest, Math.max(rule.lowest, moved));
}

/** The target that a generation was drawn for, and the mean difficulty of what was drawn. */
export function difficultyMetrics(plan: DifficultyPlan, target: number, records: readonly number[]): Metrics {
  const words = records.map((record) => plan.difficulties[record] ?? Number.NaN);
  return {
    'adarft/target_difficulty': target,
    'adarft/difficulty': words.reduce((sum, value) => sum + value, 0) / words.length,
  };
}
