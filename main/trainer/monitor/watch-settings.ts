/** The collapse watch's settings, from a run's configuration and task. Pure: also used by the host. */
import type { Task } from '../../tasks/task.ts';
import { type TrainConfig, trainedGroupSize } from '../config/config.ts';
import type { WatchSettings } from './collapse-rules.ts';

/** The settings for judging a run's metrics. */
export function watchSettings(
  config: TrainConfig,
  task: Pick<Task, 'highestReward' | 'rewardNames' | 'rewardWeights' | 'hasTargets'>,
): WatchSettings {
  const generated =
    config.per_device_train_batch_size * (config.steps_per_generation ?? config.gradient_accumulation_steps);
  return {
    patience: config.collapse_patience,
    numGenerations: config.num_generations,
    groupsPerGeneration: generated / trainedGroupSize(config),
    numIterations: config.num_iterations,
    temperature: config.temperature,
    learningRate: config.learning_rate,
    beta: config.beta,
    maxSteps: config.max_steps,
    highestReward: highestReward(task, config.reward_weights),
    equalTeaches: config.method === 'polychromic-grpo',
    masksTruncated: config.mask_truncated_completions,
    canWarmUp: task.hasTargets && config.warm_up_steps === 0,
    weightless: (config.reward_weights ?? task.rewardWeights)?.every((weight) => weight === 0) ?? false,
  };
}

/** The maximum weighted reward; null if it is unknown: the task says it for its own weights, and so for multiples of them. */
export function highestReward(
  { highestReward, rewardNames, rewardWeights }: Pick<Task, 'highestReward' | 'rewardNames' | 'rewardWeights'>,
  weights: TrainConfig['reward_weights'],
): number | null {
  if (weights === null || highestReward === null) return highestReward;
  const own = rewardWeights ?? rewardNames.map(() => 1);
  const first = own.findIndex((weight) => weight !== 0);
  const factor = (weights[first] ?? 0) / (own[first] ?? 1);
  const isMultiple = own.every((weight, i) => Math.abs(weight * factor - (weights[i] ?? 0)) <= 1e-9 * Math.abs(factor));
  return factor > 0 && isMultiple ? factor * highestReward : null;
}
