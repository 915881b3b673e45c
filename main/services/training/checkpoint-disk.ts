/** Disk space of a run's checkpoints. Pure. */
import { changesReference, isReinforcement, type TrainConfig, totalSteps } from '../../trainer/config/config.ts';
import { residentBytes, weightCount } from '../../trainer/memory/budget.ts';
import type { readModelConfig } from '../../trainer/memory/model-folder.ts';

const FLOAT = 4;

/** The most that a run has at a time: while it writes one, those beyond its limit are still there. */
export function checkpointCount(config: TrainConfig): number {
  const { save_total_limit: limit, save_steps, warm_up_steps } = config;
  // One more ends a warm-up that none of the others falls on.
  const written = Math.ceil(totalSteps(config) / save_steps) + (warm_up_steps % save_steps === 0 ? 0 : 1);
  return Math.min((limit ?? written) + 1, written);
}

/** One: weights and two moments in float32, and those of a reference that is no longer what the run started from. */
export function checkpointSize(trainable: number, config: TrainConfig): number {
  const hasReference = config.beta > 0 && isReinforcement(config.method) && changesReference(config);
  return trainable * FLOAT * (hasReference ? 4 : 3);
}

/** All that it has at a time. */
export function checkpointBytes(trainable: number, config: TrainConfig): number {
  return checkpointCount(config) * checkpointSize(trainable, config);
}

/** Parameters that such a run trains, by the model's shape. */
export function trainableOf(
  model: ReturnType<typeof readModelConfig>,
  { use_peft, lora_r }: Pick<TrainConfig, 'use_peft' | 'lora_r'>,
): number {
  if (!use_peft) return weightCount(model);
  // Adapters, their gradients and two moments.
  const { optimiser } = residentBytes(model, { precision: 'float32', trained: { rank: lora_r } });
  return optimiser / (4 * FLOAT);
}
