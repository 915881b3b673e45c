/** Describes what rolling a run back to a checkpoint discards. Pure. */
import type { RunDetail } from '../../main/api/contract/index.ts';

/** Null if nothing is lost. */
export function discardedBy(
  {
    step,
    checkpoints,
    sampleSteps,
    evaluations,
  }: Pick<RunDetail, 'step' | 'checkpoints' | 'sampleSteps' | 'evaluations'>,
  to: number,
): string | null {
  if (to >= step) return null;
  const after = checkpoints.filter((checkpoint) => checkpoint.step > to && checkpoint.deletedAt === null);
  const parts = [
    `the metrics of ${to + 1 === step ? `step ${step}` : `steps ${to + 1} to ${step}`}`,
    counted(sampleSteps.filter((at) => at > to).length, 'step of completions', 'steps of completions'),
    counted(evaluations.filter((found) => found.duringTraining && found.step > to).length, 'evaluation', 'evaluations'),
    after.length === 0
      ? null
      : `${after.length === 1 ? 'the checkpoint' : 'the checkpoints'} of step ${after.map((found) => found.step).join(', ')}`,
  ].filter((part) => part !== null);
  const last = parts.pop() ?? '';
  return parts.length === 0 ? last : `${parts.join(', ')} and ${last}`;
}

function counted(count: number, one: string, many: string): string | null {
  return count === 0 ? null : `${count} ${count === 1 ? one : many}`;
}
