/**
 * Control tokens (`<|eot_id|>`, `</s>`) inside somebody's text. Tokenizers match them anywhere, so that a post which
 * quotes one would end the turn; here they stay what they are in a text: characters.
 */
import type { Tokenizer as HfTokenizer } from '@huggingface/tokenizers';
import { append } from '../lists.ts';

// Characters that Unicode keeps out of texts (noncharacters): a template passes them on as they are.
const MARK = /\uFDD0(\d+)\uFDD1/g;
const BREAK = '\uFDD2';

interface AddedToken {
  readonly content?: unknown;
  readonly special?: unknown;
  readonly lstrip?: unknown;
  readonly rstrip?: unknown;
}

export interface ControlTokens {
  /** Finds them in texts. */
  readonly pattern: RegExp;
  /** Those before which the tokenizer drops white space. */
  readonly lstrip: ReadonlySet<string>;
  /** Those after which it does. */
  readonly rstrip: ReadonlySet<string>;
}

/** The control tokens of a tokenizer.json; null where it has none. */
export function controlTokensOf(definition: object): ControlTokens | null {
  const tokens = addedTokens(definition).filter(isControl);
  const contents = (of: readonly AddedToken[]): string[] => of.map(({ content }) => String(content));
  // The longest match wins, as in the tokenizer itself.
  const longestFirst = contents(tokens).sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return null;
  return {
    // White space stays out of it: `\s*` before a token would take quadratic time on long runs of spaces.
    pattern: new RegExp(longestFirst.map(literally).join('|'), 'g'),
    lstrip: new Set(contents(tokens.filter(({ lstrip }) => lstrip === true))),
    rstrip: new Set(contents(tokens.filter(({ rstrip }) => rstrip === true))),
  };
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
 * begin with a space. White space that a control token strips from its section stays with the token, for `live` to drop.
 */
export function encodeQuoting(
  text: string,
  quoted: readonly string[],
  around: (text: string) => string,
  { pattern, lstrip, rstrip }: ControlTokens,
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
  const section = (start: number, end: number, before: string, after: string): void => {
    const whole = rendered.slice(start, end);
    const from = rstrip.has(before) ? end - whole.trimStart().length : start;
    const to = lstrip.has(after) ? start + whole.trimEnd().length : end;
    const words = rendered.slice(from, to).replace(MARK, (match, index: string) => tokens[Number(index)] ?? match);
    if (words === rendered.slice(from, to)) return;
    if (from > done) append(ids, encode(live, rendered.slice(done, from)));
    append(ids, from === 0 ? encode(plain, words) : encode(plain, BREAK + words).slice(1));
    done = to;
  };
  let [at, last] = [0, ''];
  for (const { 0: token, index } of rendered.matchAll(pattern)) {
    section(at, index, last, token);
    [at, last] = [index + token.length, token];
  }
  section(at, rendered.length, last, '');
  return done < rendered.length ? [...ids, ...encode(live, rendered.slice(done))] : ids;
}
