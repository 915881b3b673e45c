/** How long a run's steps take: so far, and those that are left. A warm-up's have a pace of their own. */
import { BraidError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import type { RunRow } from '../../store/runs.ts';
import { type StepPaces, secondsFrom } from '../../trainer/config/config.ts';
import { EVALUATION_TIME, type EvaluationPlan, evaluationsAfter } from '../../trainer/config/evaluations.ts';
import { savedFields } from './saved-config.ts';

type Run = Pick<RunRow, 'id' | 'step' | 'maxSteps' | 'configJson'>;

/** Finished steps of a run, and their mean time in seconds, 0 without one. */
export function stepTimes(store: Store, runId: number): { readonly count: number; readonly pace: number } {
  const { count, mean } = store.metrics.overall(runId, 'step_time');
  return { count, pace: count === 0 ? 0 : mean };
}

/** Steps of the warm-up that a run begins with; a run from before there was one has none. */
export function warmUpSteps(run: Pick<Run, 'id' | 'configJson'>): number {
  return savedNumber(run, 'warm_up_steps');
}

/** When a run is evaluated. */
export function evaluationPlan(run: Pick<Run, 'id' | 'configJson' | 'maxSteps'>): EvaluationPlan {
  const warmUp = warmUpSteps(run);
  return {
    eval_steps: savedNumber(run, 'eval_steps'),
    warm_up_steps: warmUp,
    max_steps: run.maxSteps - warmUp,
  };
}

function savedNumber(run: Pick<Run, 'id' | 'configJson'>, field: 'eval_steps' | 'warm_up_steps'): number {
  try {
    const { [field]: value } = savedFields(run);
    return typeof value === 'number' ? value : 0;
  } catch (error) {
    // A run whose record is damaged must still open.
    if (error instanceof BraidError) return 0;
    throw error;
  }
}

/** Seconds of a run's finished steps, and of the evaluations between them. */
export function trainedSeconds(store: Store, runId: number): number {
  const { count, pace } = stepTimes(store, runId);
  const evaluations = store.metrics.overall(runId, EVALUATION_TIME);
  return count * pace + (evaluations.count === 0 ? 0 : evaluations.count * evaluations.mean);
}

/** Seconds of the evaluations that a run will still make: as long as those before them, or as it estimated. */
function evaluationsLeft(store: Pick<Store, 'metrics' | 'events'>, run: Run): number {
  const seconds = evaluationSeconds(store, run.id) ?? estimateOf(store, run)?.secondsPerEvaluation ?? 0;
  return seconds * evaluationsAfter(run.step, evaluationPlan(run));
}

/** Mean time of a run's evaluations; null before the first. */
export function evaluationSeconds(store: Pick<Store, 'metrics'>, runId: number): number | null {
  const { count, mean } = store.metrics.overall(runId, EVALUATION_TIME);
  return count === 0 ? null : mean;
}

/** What a run estimated; null: it didn't. */
function estimateOf(store: Pick<Store, 'events'>, { id }: Pick<Run, 'id'>): Partial<StepPaces> | null {
  const estimate = store.events.ofRun(id).findLast(({ kind }) => kind === 'estimate');
  return (estimate?.data ?? null) as Partial<StepPaces> | null;
}

/** Seconds of a step after the warm-up: the mean of its own, otherwise as the run estimated; null: neither is known. */
export function paceAfterWarmUp(store: Store, run: Run): number | null {
  const warmUp = warmUpSteps(run);
  if (warmUp === 0 || run.step > warmUp) {
    const [own] = warmUp === 0 ? [] : store.metrics.buckets(run.id, 'step_time', 1, { from: warmUp + 1, to: run.step });
    const { count, pace } = stepTimes(store, run.id);
    return own?.mean ?? (count === 0 ? null : pace);
  }
  return estimateOf(store, run)?.secondsPerStep ?? null;
}

/** Seconds of the steps and evaluations that are left, at the pace of those before them; null: unknown. */
export function secondsLeft(store: Store, run: Run, secondsPerStep = paceAfterWarmUp(store, run)): number | null {
  if (secondsPerStep === null) return null;
  const warmUp = warmUpSteps(run);
  const { count, pace } = stepTimes(store, run.id);
  const steps = secondsFrom(run.step, evaluationPlan(run), {
    secondsPerStep,
    ...(run.step < warmUp && count > 0 && { warmUpSecondsPerStep: pace }),
  });
  return steps + evaluationsLeft(store, run);
}
