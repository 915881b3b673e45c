/** Describes what rolling a run back to a checkpoint discards. Pure. */
import type { RunDetail } from '../../main/api/contract/index.ts';
import { counted } from '../components/format.ts';

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
  const samples = sampleSteps.filter((at) => at > to).length;
  const evaluated = evaluations.filter((found) => found.duringTraining && found.step > to).length;
  const parts = [
    `the metrics of ${to + 1 === step ? `step ${step}` : `steps ${to + 1} to ${step}`}`,
    samples === 0 ? null : counted(samples, 'step of completions', 'steps of completions'),
    evaluated === 0 ? null : counted(evaluated, 'evaluation'),
    after.length === 0
      ? null
      : `${after.length === 1 ? 'the checkpoint' : 'the checkpoints'} of step ${after.map((found) => found.step).join(', ')}`,
  ].filter((part) => part !== null);
  const last = parts.pop() ?? '';
  return parts.length === 0 ? last : `${parts.join(', ')} and ${last}`;
}
