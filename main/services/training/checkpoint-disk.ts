/** Disk space of a run's checkpoints. Pure. */
import { changesReference, isReinforcement, type TrainConfig, totalSteps } from '../../trainer/config/config.ts';
import { residentBytes, weightCount } from '../../trainer/memory/budget.ts';
import type { readModelConfig } from '../../trainer/memory/model-folder.ts';

const FLOAT = 4;

/** The most that a run keeps at a time. */
export function checkpointCount(config: TrainConfig): number {
  return (config.save_total_limit ?? Math.ceil(totalSteps(config) / config.save_steps)) + 1;
}

/** Weights and two moments in float32, and those of a reference that is no longer what the run started from. */
export function checkpointBytes(trainable: number, config: TrainConfig): number {
  const hasReference = config.beta > 0 && isReinforcement(config.method) && changesReference(config);
  return checkpointCount(config) * trainable * FLOAT * (hasReference ? 4 : 3);
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
