/** The scores of one model's samples. Pure. */
import type { Lane } from './use-answers.ts';

/** Of the samples that have ended. */
export function endedScores(lane: Pick<Lane, 'answers'> | null): readonly number[] {
  return (lane?.answers ?? []).flatMap(({ end, alignment }) => (end === null ? [] : alignment.score));
}

/** null without a sample that has ended. */
export function meanScore(lane: Pick<Lane, 'answers'> | null): number | null {
  const scores = endedScores(lane);
  return scores.length === 0 ? null : scores.reduce((a, b) => a + b, 0) / scores.length;
}
