/** Several columns as one value: `instruction+input` is a text, `system+prompt+completion` a conversation. */
import { joined, RESPONSES, SYSTEM_NAMES, withSystem } from '../../../tasks/folder/conversation.ts';

export interface NamedValue {
  readonly name: string;
  readonly value: unknown;
}

/** Texts as paragraphs below each other, without empty ones; undefined: there is none, or something else among them. */
export function joinedTexts(values: readonly unknown[]): string | undefined {
  const given = values.filter((value) => value !== undefined && value !== null && value !== '');
  return given.length > 0 && given.every((value) => typeof value === 'string') ? given.join('\n\n') : undefined;
}

/** The last part is the answer; a column of that name in front is the system message. */
export function joinedConversation(parts: readonly NamedValue[]): unknown {
  const [first, second] = parts;
  const isSystem = first !== undefined && (isSystemName(first.name) || isInstructions(first.name, second?.name));
  const spoken = (isSystem ? parts.slice(1) : parts).map(({ value }) => value);
  return withSystem(isSystem ? first.value : undefined, turnsOf(spoken));
}

/** Whether a column of this name holds what the system says. */
export function isSystemName(name: string): boolean {
  return SYSTEM_NAMES.some((known) => known.toLowerCase() === name.toLowerCase());
}

/** OpenAI's `instructions+input`. */
function isInstructions(name: string, next: string | undefined): boolean {
  return name === RESPONSES.system && next === RESPONSES.asked;
}

function turnsOf(values: readonly unknown[]): unknown {
  if (values.length < 2) return values[0];
  const asks = values.slice(0, -1);
  const said = values.at(-1);
  // What isn't text among several is left for the task to refuse.
  const asked = asks.length === 1 ? asks[0] : (joinedTexts(asks) ?? asks);
  if (asked === undefined) return said;
  return said === undefined || said === null ? asked : joined(asked, said);
}
