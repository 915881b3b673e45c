/** The interface of a component outside the sandbox: batches of completions in, a number or a reason for each out. */
import { numberFault } from '../float32.ts';
import { completedOf } from '../samples/completion.ts';
import type { ComponentUse, Outcome } from '../tasks/external/messages.ts';
import type { CommandSpec, HttpSpec } from '../tasks/external/spec.ts';
import { groupOf } from '../tasks/groups.ts';
import type { Answer } from '../tasks/task.ts';

export interface ComponentBatch extends Omit<ComponentUse, 'seconds'> {
  readonly outcomes: readonly Outcome[];
}

export interface Component {
  /** A number for each completion, or why there is none; never throws for what others do. */
  score(answers: readonly Answer[]): Promise<ComponentBatch>;
  close(): Promise<void>;
}

/**
 * A completion as a command or an endpoint gets it; `id` is its place in the batch. `messages`: of several turns; `group`
 * and `place`: of a component that compares the completions of a prompt.
 */
export function asRequest(answer: Answer, id: number, { group: isComparing }: Pick<CommandSpec | HttpSpec, 'group'>) {
  const { prompt, ...record } = answer.record;
  const request = { id, record, prompt, ...completedOf(answer) };
  if (!isComparing) return request;
  const { completions: group, place } = groupOf(answer);
  return { ...request, group, place };
}

/** The values that a rubric or another template is filled with. */
export function templateValues({ record, completion }: Answer): Readonly<Record<string, unknown>> {
  return { ...record, completion };
}

/** A score that came from elsewhere: a number that float32 can hold, or what is wrong with it. */
export function checkedScore(value: unknown): Outcome {
  const fault = typeof value === 'number' ? numberFault(value, String(value)) : null;
  if (typeof value === 'number' && fault === null) return value;
  return fault === null
    ? `expected a finite number as the score, got ${shownValue(value)}`
    : `expected the score to be ${fault}`;
}

const SHOWN = 120;

/** A value from elsewhere in a message: its beginning. */
export function shownValue(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : value === undefined ? 'none' : JSON.stringify(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
