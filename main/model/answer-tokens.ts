/** What a model reads between two of its turns: what somebody answers, and the beginning of its next turn. */
import { inputError } from '../errors.ts';
import { type ChatMessage, shownText, textOf } from '../samples/chat-message.ts';
import type { RenderedMessage } from './chat-template.ts';
import { quote, type Str, slice } from './jinja/text.ts';
import { SOMEBODY, saidBySomebody, type Tokenizer } from './tokenizer.ts';
import { callsInWords } from './tool-prompt.ts';

/** The source of the turn that is answered. */
const ANSWERED = 1;

/**
 * Token ids of what follows a turn of the model. Control tokens in the answers are characters. `end`: the end token that
 * the turn has; null: it was cut off, and the template's end of a turn comes first. Without a chat template it is the
 * answers alone, on lines of their own.
 */
export function encodeAnswer(tokenizer: Tokenizer, answers: readonly ChatMessage[], end: number | null): number[] {
  if (!tokenizer.hasChatTemplate) {
    const words = answers.map((answer) => shownText(answer).trimEnd());
    return tokenizer.encodeText(`\n${words.join('\n')}\n`, { quoted: words });
  }
  const ids = afterWords(tokenizer, tokenizer.inWords(answers)) ?? afterCalls(tokenizer, answers);
  const read = ids ?? afterWords(tokenizer, callsInWords(answers)) ?? [];
  return end !== null && read[0] === end ? read.slice(1) : read;
}

/** What follows a turn of words; null: the template leaves the answers out there. */
function afterWords(tokenizer: Tokenizer, answers: readonly ChatMessage[]): number[] | null {
  const asked: RenderedMessage = { role: 'user', content: '.' };
  const said: RenderedMessage = { role: 'assistant', content: quote('.', ANSWERED) };
  const rendered = tokenizer.chatQuoting([asked, said, ...answers.map(saidBySomebody)], true, toolsFor(answers));
  const at = endOf(rendered, ANSWERED);
  if (at === null)
    throw inputError(
      'CHAT_TEMPLATE_FAILED',
      "The model's chat template leaves out earlier answers of the assistant, which a task with an environment needs",
      'Use another model, or a template that keeps them.',
    );
  return shows(rendered, answers) ? tokenizer.encodeQuoted(slice(rendered, at)) : null;
}

/** What follows a turn of calls, where a template shows results beside their calls alone (Gemma 4). */
function afterCalls(tokenizer: Tokenizer, answers: readonly ChatMessage[]): number[] | null {
  const calls = answers.map(({ tool_call_id: id, name = 'tool' }) => ({
    ...(id !== undefined && { id }),
    ...{ type: 'function', function: { name, arguments: {} } },
  }));
  const called: readonly RenderedMessage[] = [
    { role: 'user', content: '.' },
    { role: 'assistant', content: '', tool_calls: calls },
  ];
  const rendered = tokenizer.chatQuoting([...called, ...answers.map(saidBySomebody)], true, toolsFor(answers));
  if (!shows(rendered, answers)) return null;
  const [ids, before] = [rendered, tokenizer.chatQuoting(called, false, toolsFor(answers))].map(tokenizer.encodeQuoted);
  const differs = ids?.findIndex((id, i) => id !== before?.[i]) ?? 0;
  // What the calls end with may be the turn's end token, or begin the results.
  return ids?.slice(differs === before?.length ? differs - 1 : differs) ?? null;
}

/** A template for chats with tools knows what a tool answers; which tools there are stands before it. */
function toolsFor(answers: readonly ChatMessage[]): readonly [] | null {
  return answers.some(({ role }) => role === 'tool') ? [] : null;
}

/** Whether the words of answers are in a text. */
function shows(text: Str, answers: readonly ChatMessage[]): boolean {
  const isEmpty = answers.every((answer) => textOf(answer).trim() === '');
  return isEmpty || answers.every(({ role }) => role !== 'tool') || endOf(text, SOMEBODY) !== null;
}

/** Where what is of a source ends; null where the text has nothing of it. */
function endOf(text: Str, source: number): number | null {
  const spans = typeof text === 'string' ? [] : text.spans;
  const last = spans.findLastIndex((value, i) => i % 3 === 2 && value === source);
  return last < 0 ? null : (spans[last - 1] ?? null);
}
