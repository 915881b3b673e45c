/** Completions for components of a reward, and what they give. */

import type { Component } from '../../main/rewards/component.ts';
import type { Outcome } from '../../main/tasks/external/messages.ts';
import { checkExternal, type ExternalSpec } from '../../main/tasks/external/spec.ts';
import type { Answer } from '../../main/tasks/task.ts';

export function answersTo(...completions: readonly string[]): Answer[] {
  return completions.map((completion, i) => ({
    record: { id: `r${i}`, prompt: 'Say it', word: 'it' },
    completion,
    tokens: completion.length,
    finish: 'stop',
  }));
}

export function specOf<K extends ExternalSpec['kind']>(
  fields: { readonly [key: string]: unknown } & Readonly<Record<K, unknown>>,
): Extract<ExternalSpec, { kind: K }> {
  const checked = checkExternal({ weight: 1, ...fields }, ['word', 'id']);
  if ('faults' in checked) throw new Error(JSON.stringify(checked.faults));
  return checked.spec as Extract<ExternalSpec, { kind: K }>;
}

/** Scores once and closes. */
export async function outcomesOf(component: Component, ...completions: readonly string[]): Promise<readonly Outcome[]> {
  try {
    return (await component.score(answersTo(...completions))).outcomes;
  } finally {
    await component.close();
  }
}
