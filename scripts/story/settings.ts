/** What the story measures and trains, fixed beforehand. */
import type { TrainConfig } from '../../main/trainer/config/config.ts';
import { flatLimit } from '../../main/trainer/monitor/collapse-rules.ts';

/** Training pairs at a length. */
export function trainingPairs(words: number): number {
  return words > 200 ? 64 : 512;
}

/** Held-out pairs at a length; the long ones take long. */
export function testPairs(words: number): number {
  if (words >= 500) return 8;
  return words >= 200 ? 16 : 64;
}

/** Settings of a jump over those of a stage. */
export type JumpSettings = Pick<TrainConfig, 'max_steps'> &
  Partial<Pick<TrainConfig, 'num_generations' | 'per_device_train_batch_size'>>;

/** From so many words on, a step of a stage's 128 completions takes minutes. */
const FAR = 500;
/**
 * One small group a step, and a few steps more than the 30 that the collapse watch takes to call a reward flat: fewer
 * steps of more completions, for as much time, would end before there can be a verdict.
 */
const FAR_JUMP = { max_steps: 36, num_generations: 8, per_device_train_batch_size: 8 } as const;

/** A jump has the settings of a stage, and smaller steps where those would not end within the hour. */
export function jumpSettings(words: number, stageSteps: number): JumpSettings {
  if (words < FAR) return { max_steps: stageSteps };
  return { ...FAR_JUMP, max_steps: Math.min(stageSteps, FAR_JUMP.max_steps) };
}

/** The first step of a run after which the watch can warn that the reward is flat. */
export function firstFlatVerdict({
  max_steps,
  collapse_patience,
}: Pick<TrainConfig, 'max_steps' | 'collapse_patience'>) {
  return Math.ceil(flatLimit(max_steps)) + collapse_patience;
}
