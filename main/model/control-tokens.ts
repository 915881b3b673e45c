/**
 * Control tokens (`<|eot_id|>`, `</s>`) inside somebody's text. Tokenizers match them anywhere, so that a post which
 * quotes one would end the turn; here they stay what they are in a text: characters.
 */
import type { Tokenizer as HfTokenizer } from '@huggingface/tokenizers';

interface AddedToken {
  readonly content?: unknown;
  readonly special?: unknown;
}

/** Finds the control tokens of a tokenizer.json in texts; null where it has none. */
export function controlTokenPattern(definition: object): RegExp | null {
  const contents = addedTokens(definition)
    .filter(isControl)
    .map(({ content }) => String(content))
    // The longest match wins, as in the tokenizer itself.
    .sort((a, b) => b.length - a.length);
  return contents.length === 0 ? null : new RegExp(contents.map(literally).join('|'), 'g');
}

/** The same tokenizer.json without its control tokens. */
export function withoutControlTokens(definition: object): object {
  return { ...definition, added_tokens: addedTokens(definition).filter((token) => !isControl(token)) };
}

/** A regular expression that matches a text. */
function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

function addedTokens(definition: object): readonly AddedToken[] {
  const { added_tokens: added } = definition as { added_tokens?: unknown };
  return Array.isArray(added) ? (added as readonly AddedToken[]) : [];
}

function isControl({ content, special }: AddedToken): boolean {
  return special === true && typeof content === 'string' && content !== '';
}

// Characters that Unicode keeps out of texts (noncharacters): a template passes them on as they are.
const MARK = /\uFDD0(\d+)\uFDD1/g;

/**
 * Ids of `around(text)`. Control tokens inside the `quoted` parts of the text are plain characters; those of the rest,
 * a prompt's template, and those that `around` adds are control tokens. The sections between control tokens are independent of one another, so only those that hold a part
 * of a quoted one are encoded by `plain`.
 */
export function encodeQuoting(
  text: string,
  quoted: readonly string[],
  around: (text: string) => string,
  pattern: RegExp,
  live: HfTokenizer,
  plain: HfTokenizer,
): number[] {
  const tokens: string[] = [];
  const mark = (part: string): string => part.replace(pattern, (token) => `\uFDD0${tokens.push(token) - 1}\uFDD1`);
  const marked = quoted.reduce((whole, part) => whole.replaceAll(part, () => mark(part)), text);
  const rendered = around(marked);
  const ids: number[] = [];
  let at = 0;
  const take = (section: string): void => {
    const words = section.replace(MARK, (match, index: string) => tokens[Number(index)] ?? match);
    ids.push(...(words === section ? live : plain).encode(words, { add_special_tokens: false }).ids);
  };
  for (const { 0: token, index } of rendered.matchAll(pattern)) {
    if (index > at) take(rendered.slice(at, index));
    take(token);
    at = index + token.length;
  }
  if (at < rendered.length) take(rendered.slice(at));
  return ids;
}
