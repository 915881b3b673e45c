/** What is said of a completion of several turns: what its steps gave, and why it ended where it did. */
import type { ChatMessage } from '../../main/api/contract/index.ts';
import { counted, number } from './format.ts';

/** How it ended, as far as it is known. */
export interface KnownEnding {
  /** Whether the model ended by itself; absent: nobody knows. */
  readonly terminated?: boolean;
  /** Why a step or the reward failed. */
  readonly failure?: string | null;
}

/** A sentence; null: it isn't an episode, or of a version that didn't keep it. */
export function endingOf(messages: readonly ChatMessage[], { terminated, failure }: KnownEnding): string | null {
  const own = messages.filter(({ role }) => role === 'assistant');
  const outcome = own.at(-1)?.outcome;
  if (own.length === 0 || own.every((turn) => turn.outcome === undefined)) return null;
  const after = `after ${counted(own.length, 'turn')}`;
  if (outcome === undefined) return `Ended ${after}: ${failure ?? 'a step failed'}`;
  const hasTools = messages.some(({ role, tool_calls }) => role === 'tool' || tool_calls !== undefined);
  if (terminated === false) return `Ended ${after}: cut off, as max_completion_length has no room for more`;
  if (outcome.done)
    return hasTools ? `Ended ${after}: answered without another call` : `Ended ${after}: the conversation was over`;
  return `Ended ${after}: the task allows no more`;
}

/** What a step gave; null: nothing. */
export function stepRewards({ outcome }: Pick<ChatMessage, 'outcome'>): string | null {
  const given = Object.entries(outcome?.rewards ?? {});
  if (given.length === 0) return null;
  const [only, more] = given;
  if (only !== undefined && more === undefined) return `reward ${number(only[1])}`;
  return given.map(([name, value]) => `${name} ${number(value)}`).join(' · ');
}

/** Why a call failed; null: it has a result. */
export function callError({ role, content }: Pick<ChatMessage, 'role' | 'content'>): string | null {
  if (role !== 'tool' || content === null || !content.startsWith('{"error":')) return null;
  try {
    const { error } = JSON.parse(content) as { readonly error?: unknown };
    return typeof error === 'string' ? error : content;
  } catch {
    return content;
  }
}
