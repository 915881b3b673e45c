/** What the collapse watch knows of a run from its configuration and its task. Pure: the host asks it too. */
import type { Task } from '../tasks/task.ts';
import type { WatchSettings } from './collapse-rules.ts';
import type { TrainConfig } from './config.ts';

/** The settings by which a run's metrics are judged. */
export function watchSettings(config: TrainConfig, task: Pick<Task, 'highestReward' | 'rewardNames'>): WatchSettings {
  const generated =
    config.per_device_train_batch_size * (config.steps_per_generation ?? config.gradient_accumulation_steps);
  return {
    patience: config.collapse_patience,
    numGenerations: config.num_generations,
    groupsPerGeneration: generated / config.num_generations,
    numIterations: config.num_iterations,
    temperature: config.temperature,
    learningRate: config.learning_rate,
    beta: config.beta,
    highestReward: highestReward(task, config.reward_weights),
  };
}

/** The highest weighted reward there can be; null where the weights leave it unknown. */
export function highestReward(
  { highestReward, rewardNames }: Pick<Task, 'highestReward' | 'rewardNames'>,
  weights: TrainConfig['reward_weights'],
): number | null {
  if (weights === null || highestReward === null) return highestReward;
  const [weight = 1] = weights;
  return rewardNames.length === 1 && weight > 0 ? weight * highestReward : null;
}
