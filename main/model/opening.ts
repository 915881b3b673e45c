/**
 * Prompts that end in words which come with each completion: those an environment begins with, at the end of the prompt's
 * last message. The prompt's tokens stop where the words begin, so that all completions of a record share them.
 */
import { inputError } from '../errors.ts';
import type { ChatMessage } from '../samples/chat-message.ts';
import { quotedMessage } from './chat-template.ts';
import { concat, quote, type Str, slice } from './jinja/text.ts';
import type { Tokenizer } from './tokenizer.ts';

/** A source that no text of a record has. */
const WORDS = 1_000_000;
const BETWEEN = '\n\n';

/** The prompt's tokens. `quoted`: as of `encodePrompt`. */
export function encodeOpenPrompt(
  tokenizer: Tokenizer,
  messages: readonly ChatMessage[],
  quoted: readonly string[],
): number[] {
  if (!tokenizer.hasChatTemplate) {
    const asked = messages.map(({ content }) => content ?? '').join(BETWEEN);
    return tokenizer.encodeText(`${asked}\n`, { quoted, special: true });
  }
  const whole = (words: string) => rendered(tokenizer, messages, words, (own) => tokenizer.quote(own, quoted));
  const { text, at } = whole('.');
  const cut = tokenizer.encodeQuoted(slice(text, 0, at));
  // Some tokenizers write the break before the words in other tokens than at the end of a text.
  const [one, other] = [tokenizer.encodeQuoted(text), tokenizer.encodeQuoted(whole('a').text)];
  const shared = one.slice(
    0,
    one.findIndex((id, i) => id !== other[i]),
  );
  return tokenizer.decode(shared) === tokenizer.decode(cut) ? shared : cut;
}

/** The tokens of the words after those of the prompt, and of what the template puts before the model's first turn. */
export function encodeOpening(
  tokenizer: Tokenizer,
  { messages, promptIds }: { readonly messages: readonly ChatMessage[]; readonly promptIds: readonly number[] },
  words: string,
): number[] {
  if (!tokenizer.hasChatTemplate) return tokenizer.encodeText(`${words.trimEnd()}\n`, { quoted: [words] });
  // Without words there still is a place for them.
  const { text, at } = rendered(tokenizer, messages, words.trim() === '' ? '.' : words, (own) => own);
  const whole = tokenizer.encodeQuoted(text);
  return promptIds.every((id, i) => id === whole[i])
    ? whole.slice(promptIds.length)
    : tokenizer.encodeQuoted(slice(text, at));
}

function rendered(
  tokenizer: Tokenizer,
  messages: readonly ChatMessage[],
  words: string,
  written: (text: string) => Str,
): { readonly text: Str; readonly at: number } {
  const last = messages.length - 1;
  const text = tokenizer.chatQuoting(
    messages.map((message, i) =>
      quotedMessage(message, (own) =>
        i === last ? concat([written(own), BETWEEN, quote(words, WORDS)]) : written(own),
      ),
    ),
    true,
  );
  const spans = typeof text === 'string' ? [] : text.spans;
  const found = spans.findLastIndex((value, i) => i % 3 === 2 && value === WORDS);
  const at = spans[found - 2];
  if (at !== undefined) return { text, at };
  throw inputError(
    'CHAT_TEMPLATE_FAILED',
    "The model's chat template leaves out the end of the last message of the user",
    'Use another model, or a template that shows it.',
  );
}
