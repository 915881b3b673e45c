/** When a run is evaluated on its held-out records. */
import type { TrainConfig } from './schema.ts';
import { totalSteps } from './warm-up.ts';

/** What decides when a run is evaluated. */
export type EvaluationPlan = Pick<TrainConfig, 'eval_steps' | 'max_steps' | 'warm_up_steps'>;

/** Reported with the step after an evaluation, of the last one with the last step: how long that took. */
export const EVALUATION_TIME = 'time/evaluation';

/** The last step always counts, so that a run's final state is always evaluated; a warm-up's too. */
export function evaluatesAt(step: number, config: EvaluationPlan): boolean {
  const { eval_steps, warm_up_steps } = config;
  return eval_steps > 0 && (step % eval_steps === 0 || step === warm_up_steps || step === totalSteps(config));
}

/** How often a run is still evaluated after its step `done`. */
export function evaluationsAfter(done: number, config: EvaluationPlan): number {
  const { eval_steps: every, warm_up_steps } = config;
  const last = totalSteps(config);
  if (every <= 0 || done >= last) return 0;
  const between = new Set([warm_up_steps, last].filter((step) => step > done && step % every !== 0));
  return Math.floor(last / every) - Math.floor(done / every) + between.size;
}
