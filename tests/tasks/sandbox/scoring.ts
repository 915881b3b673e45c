import { onTestFinished } from 'vitest';
import type { RewardProgram } from '../../../main/tasks/sandbox/messages.ts';
import { openScorer, type Scored } from '../../../main/tasks/sandbox/scorer.ts';
import type { Answer } from '../../../main/tasks/task.ts';
import { processPaths } from '../../processes/paths.ts';

/** The entry of the reward's thread. */
export const { rewardWorker } = processPaths();

/** A completion of a record that has nothing but a target. */
export function answer(completion: string, target = ''): Answer {
  return { record: { id: 'r', prompt: 'p', target } as Answer['record'], completion, tokens: 3, finish: 'stop' };
}

/** A reward of one component with small limits. */
export function program(text: string, changes: Partial<RewardProgram> = {}): RewardProgram {
  return { text, components: ['reward'], hasCheck: false, limits: { timeMs: 1000, memoryMb: 16 }, ...changes };
}

/** Scores completions on a thread of its own. */
export function scoreWith(
  text: string,
  completions: readonly string[],
  changes: Partial<RewardProgram> = {},
): readonly Scored[] {
  const scorer = openScorer(program(text, changes), rewardWorker);
  onTestFinished(() => scorer.close());
  return scorer.score(
    'reward',
    completions.map((completion) => answer(completion)),
  );
}

/** The numbers, or the reason of a failure. */
export function outcome(scored: Scored | undefined): readonly number[] | string | undefined {
  return scored?.kind === 'numbers' ? scored.numbers : scored?.reason;
}
