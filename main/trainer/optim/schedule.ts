/** Learning-rate schedules as transformers computes them (`get_*_schedule*` in transformers/optimization.py). */
import type { TrainConfig } from '../config/config.ts';

export type ScheduleConfig = Pick<TrainConfig, 'learning_rate' | 'lr_scheduler_type' | 'warmup_steps' | 'max_steps'>;

/**
 * The learning rate of optimiser step `step` (0 is the first), as used by the update and logged. With warm-up the first
 * step has rate 0; `constant` ignores warm-up. Both are as in transformers.
 */
export function learningRate(config: ScheduleConfig, step: number): number {
  return config.learning_rate * factor(config, step);
}

function factor(config: ScheduleConfig, step: number): number {
  const { lr_scheduler_type: type, warmup_steps: warmup, max_steps: total } = config;
  if (type === 'constant') return 1;
  if (step < warmup) return step / Math.max(1, warmup);
  switch (type) {
    case 'constant_with_warmup':
      return 1;
    case 'linear':
      return Math.max(0, (total - step) / Math.max(1, total - warmup));
    case 'cosine': {
      const progress = (step - warmup) / Math.max(1, total - warmup);
      return Math.max(0, 0.5 * (1 + Math.cos(Math.PI * progress)));
    }
  }
}
