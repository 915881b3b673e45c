/** The scores of one model's samples: alignment with the target, or the reward of a task. Pure. */
import type { Completed, Lane } from './use-answers.ts';

/** Null where a reward has failed, or isn't known yet. */
function scoreOf(answer: Completed): number | null {
  return answer.kind === 'texts' ? answer.alignment.score : (answer.end?.reward ?? null);
}

/** Of the samples that have ended. */
export function endedScores(lane: Pick<Lane, 'answers'> | null): readonly number[] {
  return (lane?.answers ?? []).flatMap((answer) => (answer.end === null ? [] : (scoreOf(answer) ?? [])));
}

/** null without a sample that has ended. */
export function meanScore(lane: Pick<Lane, 'answers'> | null): number | null {
  const scores = endedScores(lane);
  return scores.length === 0 ? null : scores.reduce((a, b) => a + b, 0) / scores.length;
}
