/** The completions of one prompt, which a reward may compare. */
import { withoutOutcomes } from '../samples/chat-message.ts';
import { type Completed, completedOf } from '../samples/completion.ts';
import type { Answer, Group } from './task.ts';

/** An answer that knows its group by name. */
export interface NamedGroup {
  readonly answer: Answer;
  /** Which completions answer the same prompt at the same time. */
  readonly group: string;
}

/** Answers with their groups: those of the same name. */
export function withGroups(given: readonly NamedGroup[]): Answer[] {
  return inGroups(
    given.map(({ answer }) => answer),
    (i) => given[i]?.group,
  );
}

/** Answers with their groups: so many in a row. */
export function inGroupsOf(answers: readonly Answer[], size: number): Answer[] {
  return inGroups(answers, (i) => Math.floor(i / size));
}

/** Answers with their groups: those with the same key. */
export function inGroups(answers: readonly Answer[], keyOf: (i: number) => unknown): Answer[] {
  const grouped: Answer[] = [];
  for (const rows of Map.groupBy(answers.keys(), keyOf).values()) {
    const own = rows.flatMap((row) => answers[row] ?? []);
    const completions = own.map(writtenOnly);
    for (const [place, answer] of own.entries())
      grouped[rows[place] ?? 0] = { ...answer, group: { completions, place } };
  }
  return grouped;
}

/** An answer's group; one that nobody has put into a group is alone. */
export function groupOf(answer: Answer): Group {
  return answer.group ?? { completions: [writtenOnly(answer)], place: 0 };
}

function writtenOnly(answer: Answer): Completed {
  const { messages, ...completed } = completedOf(answer);
  return { ...completed, ...(messages && { messages: withoutOutcomes(messages) }) };
}
