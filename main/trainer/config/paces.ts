/** How long a run takes, by what its steps and evaluations take. */
import { type EvaluationPlan, evaluationsAfter } from './evaluations.ts';
import { totalSteps } from './warm-up.ts';

/** Seconds of a step; of one of the warm-up, where that is known to be different; of an evaluation. */
export interface StepPaces {
  readonly secondsPerStep: number;
  /** Of a step whose completions all reach their limit, where most are expected to be far shorter. */
  readonly limitSecondsPerStep?: number;
  readonly warmUpSecondsPerStep?: number;
  /** Absent: there is none, or it isn't known. */
  readonly secondsPerEvaluation?: number;
  /** Whether rewards outside the sandbox come on top: a trial asks no judge and no server. */
  readonly withoutRewards?: boolean;
}

/** Seconds of a run's steps and evaluations from its step `done` on, the one before the first step included. */
export function secondsFrom(
  done: number,
  config: EvaluationPlan,
  { secondsPerStep, warmUpSecondsPerStep = secondsPerStep, secondsPerEvaluation = 0 }: StepPaces,
): number {
  const warmUp = Math.max(0, config.warm_up_steps - done);
  const steps = warmUp * warmUpSecondsPerStep + Math.max(0, totalSteps(config) - done - warmUp) * secondsPerStep;
  return steps + evaluationsFrom(done, config) * secondsPerEvaluation;
}

/** How often a run is evaluated that starts or resumes after its step `done`. */
export function evaluationsFrom(done: number, config: EvaluationPlan): number {
  return evaluationsAfter(done, config) + (done === 0 && config.eval_steps > 0 ? 1 : 0);
}
