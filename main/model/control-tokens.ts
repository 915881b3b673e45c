/**
 * Control tokens (`<|eot_id|>`, `</s>`) inside somebody's text. Tokenizers match them anywhere, so that a post which
 * quotes one would end the turn; here they stay what they are in a text: characters.
 */
import type { Tokenizer as HfTokenizer } from '@huggingface/tokenizers';

// Characters that Unicode keeps out of texts (noncharacters): a template passes them on as they are.
const MARK = /\uFDD0(\d+)\uFDD1/g;
const BREAK = '\uFDD2';

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

/** The same tokenizer.json with `BREAK`, which no text contains, as its only control token. */
export function withoutControlTokens(definition: object): object {
  const [control] = addedTokens(definition).filter(isControl);
  const others = addedTokens(definition).filter((token) => !isControl(token));
  const only = { ...control, content: BREAK, normalized: false, lstrip: false, rstrip: false };
  return { ...definition, added_tokens: [...others, only] };
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

/**
 * Ids of `around(text)`. Control tokens inside the `quoted` parts of the text are plain characters; those of the rest,
 * a prompt's template, and those that `around` adds are control tokens. Only the sections between control tokens that
 * hold a part of a quoted one are encoded by `plain`. A section knows whether it is the first, which some tokenizers
 * begin with a space.
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
  const encode = (by: HfTokenizer, words: string): number[] => by.encode(words, { add_special_tokens: false }).ids;
  const ids: number[] = [];
  let done = 0;
  const section = (from: number, to: number): void => {
    const words = rendered.slice(from, to).replace(MARK, (match, index: string) => tokens[Number(index)] ?? match);
    if (words === rendered.slice(from, to)) return;
    if (from > done) ids.push(...encode(live, rendered.slice(done, from)));
    ids.push(...(from === 0 ? encode(plain, words) : encode(plain, BREAK + words).slice(1)));
    done = to;
  };
  let at = 0;
  for (const { 0: token, index } of rendered.matchAll(pattern)) {
    section(at, index);
    at = index + token.length;
  }
  section(at, rendered.length);
  return done < rendered.length ? [...ids, ...encode(live, rendered.slice(done))] : ids;
}
