/**
 * A conversation's own turns of the assistant as token ids, for supervised training: what the chat template makes of a
 * turn, from where the model begins to write to the token that ends it. What a template puts behind that token (a line
 * break, the end of a document) isn't trained on: a model that is sampled from stops before it.
 */
import { type ChatMessage, type ChatTool, isTrained, plainLines, shownText, textOf } from '../samples/chat-message.ts';
import { concat, plain, quote, type Str, slice } from './jinja/text.ts';
import type { PromptGroup } from './pack.ts';
import { quotedChat, SOMEBODY, type Tokenizer } from './tokenizer.ts';

type Tools = readonly ChatTool[] | undefined;

/** The last turn of a conversation, with its end token; null: the model has no chat template. `ends`: what ends a turn. */
export function answerTokens(
  tokenizer: Tokenizer,
  messages: readonly ChatMessage[],
  tools: Tools,
  ends: readonly number[],
): number[] | null {
  if (!tokenizer.hasChatTemplate) return null;
  const prompt = rendered(tokenizer, messages.slice(0, -1), tools, true);
  const whole = rendered(tokenizer, messages, tools, false);
  if (!plain(whole).startsWith(plain(prompt))) {
    // Mistral's puts the system message into the last of the user's, which is then another one.
    const others = messages.filter(({ role }) => role !== 'system');
    if (others.length < messages.length) return answerTokens(tokenizer, others, tools, ends);
    const rest = afterThoughts(tokenizer, messages, tools, prompt);
    return rest === null ? textTokens(tokenizer, messages.at(-1), ends) : ended(tokenizer.encodeQuoted(rest), ends);
  }
  const ids = tokenizer.encodeQuoted(whole);
  const begin = tokenizer.encodeQuoted(prompt);
  const rest = startsWith(ids, begin)
    ? ids.slice(begin.length)
    : tokenizer.encodeQuoted(slice(whole, plain(prompt).length));
  return ended(rest, ends);
}

/**
 * All turns of the assistant that are trained on: one sequence in which they are predicted and the others read, where the template writes
 * the beginning of a conversation as it writes it alone; otherwise (earlier turns lose their thoughts) a sequence a turn.
 */
export function turnsOf(
  tokenizer: Tokenizer,
  messages: readonly ChatMessage[],
  tools: Tools,
  ends: readonly number[],
): readonly PromptGroup[] {
  const turns = [...messages.keys()].filter((i) => i > 0 && isTrained(messages[i] as ChatMessage));
  return (
    inOneSequence(tokenizer, messages, tools, ends, turns) ??
    turns.map((turn) => alone(tokenizer, messages, tools, ends, turn))
  );
}

/** The last turn of a conversation, the assistant's, and what it answers; without a chat template as plain lines. */
export function lastTurnOf(
  tokenizer: Tokenizer,
  messages: readonly ChatMessage[],
  tools: Tools,
  ends: readonly number[],
): Pick<PromptGroup, 'promptIds'> & { readonly completionIds: readonly number[] } {
  const { promptIds, completions } = alone(tokenizer, messages, tools, ends, messages.length - 1);
  return { promptIds, completionIds: completions[0] ?? [] };
}

function inOneSequence(
  tokenizer: Tokenizer,
  messages: readonly ChatMessage[],
  tools: Tools,
  ends: readonly number[],
  turns: readonly number[],
): readonly PromptGroup[] | null {
  if (!tokenizer.hasChatTemplate) return null;
  const ids = tokenizer.encodeQuoted(rendered(tokenizer, messages, tools, false));
  const predicted = ids.map(() => false);
  let first: number | null = null;
  let last = 0;
  for (const turn of turns) {
    const before = tokenizer.encodeQuoted(rendered(tokenizer, messages.slice(0, turn), tools, true));
    const through = tokenizer.encodeQuoted(rendered(tokenizer, messages.slice(0, turn + 1), tools, false));
    const said = ended(through.slice(before.length), ends);
    last = before.length + said.length;
    if (!startsWith(through, before) || !startsWith(ids, [...before, ...said])) return null;
    predicted.fill(true, before.length, last);
    first ??= before.length;
  }
  if (first === null) return null;
  return [
    {
      promptIds: ids.slice(0, first),
      completions: [ids.slice(first, last)],
      predicted: [predicted.slice(first, last)],
    },
  ];
}

function alone(
  tokenizer: Tokenizer,
  messages: readonly ChatMessage[],
  tools: Tools,
  ends: readonly number[],
  turn: number,
): PromptGroup {
  const asked = messages.slice(0, turn);
  const through = messages.slice(0, turn + 1);
  const target = answerTokens(tokenizer, through, tools, ends) ?? textTokens(tokenizer, messages[turn], ends);
  const promptIds = tokenizer.hasChatTemplate
    ? tokenizer.encodeQuoted(rendered(tokenizer, asked, tools, true))
    : tokenizer.encodeText(plainLines(asked), { special: true });
  return { promptIds, completions: [target] };
}

function rendered(tokenizer: Tokenizer, messages: readonly ChatMessage[], tools: Tools, ready: boolean): Str {
  return quotedChat(tokenizer, messages, ready, tools ?? null);
}

/** Where the prompt begins the thoughts of the turn that follows, and perhaps ends them: then it has none. */
const BEGUN = /<think>\s*(<\/think>\s*)?$/;

/**
 * What follows a prompt that begins or leaves out the turn's thoughts, where the template writes the finished turn in
 * another way: DeepSeek's distillations leave them out of it, Qwen's repeat them. null: the prompt speaks of none.
 */
function afterThoughts(tokenizer: Tokenizer, messages: readonly ChatMessage[], tools: Tools, prompt: Str): Str | null {
  const begun = BEGUN.exec(plain(prompt));
  const turn = messages.at(-1);
  if (begun === null || turn === undefined) return null;
  const { thoughts, spoken } = withoutThoughts(turn);
  const whole = rendered(tokenizer, [...messages.slice(0, -1), spoken], tools, false);
  const before = plain(prompt).slice(0, begun.index);
  if (!plain(whole).startsWith(before)) return null;
  const rest = slice(whole, before.length);
  const said = slice(rest, /^<think>\s*<\/think>\s*/.exec(plain(rest))?.[0].length ?? 0);
  return begun[1] === undefined ? concat([quote(thoughts, SOMEBODY), '\n</think>\n\n', said]) : said;
}

function withoutThoughts(turn: ChatMessage): { readonly thoughts: string; readonly spoken: ChatMessage } {
  const { reasoning_content: apart, ...spoken } = turn;
  const [, inside, words] = /^\s*(?:<think>)?([\s\S]*?)<\/think>\s*([\s\S]*)$/.exec(textOf(turn)) ?? [];
  if (words === undefined) return { thoughts: (apart ?? '').trim(), spoken };
  return { thoughts: (apart ?? inside ?? '').trim(), spoken: { ...spoken, content: words } };
}

/** The words alone, where the template can't say what it makes of them. */
function textTokens(tokenizer: Tokenizer, turn: ChatMessage | undefined, [end]: readonly number[]): number[] {
  const ids = turn === undefined ? [] : tokenizer.encodeText(shownText(turn));
  return end === undefined ? ids : [...ids, end];
}

/** Up to the first token that ends a turn: what people wrote has none, as theirs are characters. */
function ended(ids: readonly number[], ends: readonly number[]): number[] {
  const at = ids.findIndex((id) => ends.includes(id));
  if (at >= 0) return ids.slice(0, at + 1);
  const [end] = ends;
  return end === undefined ? [...ids] : [...ids, end];
}

function startsWith(ids: readonly number[], begin: readonly number[]): boolean {
  return begin.length <= ids.length && begin.every((id, i) => ids[i] === id);
}
