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
  const rest = isSystem ? parts.slice(1) : parts;
  const earlier = rest[0] !== undefined && isEarlierName(rest[0].name) ? pairsOf(rest[0].value) : null;
  const spoken = (earlier === null ? rest : rest.slice(1)).map(({ value }) => value);
  return withSystem(isSystem ? first.value : undefined, afterPairs(earlier ?? [], turnsOf(spoken)));
}

/** Whether a column of this name holds earlier turns, as LLaMA-Factory and ms-swift have them: `[[question, answer], …]`. */
export function isEarlierName(name: string): boolean {
  return name.toLowerCase() === 'history';
}

/** The pairs of such a column; null: it holds something else. */
export function pairsOf(value: unknown): readonly (readonly string[])[] | null {
  const list = value === '' ? [] : (value ?? []);
  const isPair = (one: unknown): one is string[] =>
    Array.isArray(one) && one.length === 2 && one.every((text) => typeof text === 'string');
  return Array.isArray(list) && list.every(isPair) ? list : null;
}

function afterPairs(pairs: readonly (readonly string[])[], turns: unknown): unknown {
  if (pairs.length === 0 || turns == null) return turns;
  const said = pairs.flatMap(([question, answer]) => [
    { role: 'user', content: question },
    { role: 'assistant', content: answer },
  ]);
  return [...said, ...(Array.isArray(turns) ? turns : [{ role: 'user', content: turns }])];
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
