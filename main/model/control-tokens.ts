/**
 * Control tokens (`<|eot_id|>`, `</s>`) inside somebody's text. Tokenizers match them anywhere, so that a post which
 * quotes one would end the turn; here they stay what they are in a text: characters.
 */
import type { Tokenizer as HfTokenizer } from '@huggingface/tokenizers';
import { append } from '../lists.ts';
import { tokenText } from './chat-template.ts';
import { plain, quote, type Str, withSpans } from './jinja/text.ts';

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

/** A tokenizer's two files. */
interface Files {
  readonly definition: object;
  readonly config: Readonly<Record<string, unknown>>;
}

/**
 * The same tokenizer with `mark` as its only control token. A vocabulary may have the others as words, too: there they
 * get names with the mark, which no text contains.
 */
export function withoutControlTokens({ definition, config }: Files, mark: string): Files {
  const controls = addedTokens(definition).filter(isControl);
  const others = addedTokens(definition).filter((token) => !isControl(token));
  const only = { ...controls[0], content: mark, normalized: false, lstrip: false, rstrip: false };
  const names = new Map(controls.map(({ content }, i) => [String(content), `${mark}${i}`]));
  const { model = {} } = definition as { model?: Readonly<Record<string, unknown>> };
  const unknown = names.get(tokenText(config.unk_token));
  return {
    definition: { ...definition, added_tokens: [...others, only], model: { ...model, ...renamed(model, names) } },
    config: { ...config, ...(unknown !== undefined && { unk_token: unknown }) },
  };
}

/** A tokenizer.json that finds no special token in a text, as transformers does with "split_special_tokens". */
export function withoutSpecial(definition: object): object {
  return { ...definition, added_tokens: addedTokens(definition).filter(({ special }) => special !== true) };
}

/** A model's words by their new names, without the merges that make one of them. */
function renamed(model: Readonly<Record<string, unknown>>, names: ReadonlyMap<string, string>): object {
  const { vocab, merges, unk_token: unknown } = model;
  const nameOf = (word: unknown): unknown => (typeof word === 'string' ? (names.get(word) ?? word) : word);
  const entries = Object.entries(Array.isArray(vocab) ? {} : ((vocab ?? {}) as object));
  return {
    vocab: Array.isArray(vocab)
      ? vocab.map((entry) => (Array.isArray(entry) ? [nameOf(entry[0]), ...entry.slice(1)] : entry))
      : Object.fromEntries(entries.map(([word, id]) => [String(nameOf(word)), id])),
    ...(typeof unknown === 'string' && { unk_token: nameOf(unknown) }),
    ...(Array.isArray(merges) && { merges: merges.filter((merge) => !names.has(resultOf(merge))) }),
  };
}

function resultOf(merge: unknown): string {
  return Array.isArray(merge) ? merge.join('') : String(merge).replace(' ', '');
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

type Span = readonly [number, number];

/**
 * A prompt that knows which of its characters are of the parts that somebody wrote. A part that also stands inside a
 * control token of the prompt's own ("s" in `</s>`) is not the part there, unless it reaches beyond the token or is all of it.
 */
export function quoteParts(text: string, parts: readonly string[], { pattern }: ControlTokens): Str {
  if (parts.includes(text)) return quote(text, 0);
  // A prompt may have a part without the white space around it.
  const all = new Set(parts.flatMap((part) => [part, part.trim()]));
  const spans = merged([...all].flatMap((part) => placesOf(text, part)));
  const own = [...text.matchAll(pattern)]
    .map(({ 0: token, index }): Span => [index, index + token.length])
    .filter(([start, end]) =>
      spans
        .filter(([from, to]) => from < end && to > start)
        .every(([from, to]) => from >= start && to <= end && to - from < end - start),
    );
  const somebodys = spans.filter(([from, to]) => !own.some(([start, end]) => from >= start && to <= end));
  return withSpans(
    text,
    somebodys.flatMap(([from, to]) => [from, to, 0]),
  );
}

function placesOf(text: string, part: string): Span[] {
  const places: Span[] = [];
  if (part === '') return places;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) places.push([at, at + part.length]);
  return places;
}

/** The spans in order, those that touch as one. */
function merged(spans: readonly Span[]): Span[] {
  const all: Span[] = [];
  for (const [start, end] of [...spans].sort(([a], [b]) => a - b)) {
    const last = all.at(-1);
    if (last !== undefined && last[1] >= start) all[all.length - 1] = [last[0], Math.max(last[1], end)];
    else all.push([start, end]);
  }
  return all;
}

/** A control token in a text; `counts`: no character of it is somebody's. */
interface Found {
  readonly token: string;
  readonly start: number;
  readonly counts: boolean;
}

function tokensIn(text: Str, { pattern }: ControlTokens): Found[] {
  const whole = plain(text);
  const spans = typeof text === 'string' ? [] : text.spans;
  const found: Found[] = [];
  const search = new RegExp(pattern);
  let next = 0;
  for (let match = search.exec(whole); match !== null; match = search.exec(whole)) {
    const [start, end] = [match.index, match.index + match[0].length];
    while (next < spans.length && (spans[next + 1] ?? 0) <= start) next += 3;
    const counts = next >= spans.length || (spans[next] ?? 0) >= end;
    found.push({ token: match[0], start, counts });
    // One that is somebody's takes no characters away from those behind it.
    if (!counts) search.lastIndex = start + 1;
  }
  return found;
}

/**
 * Ids of a text with somebody's words in it: control tokens with characters of theirs are plain characters, all others
 * count. Only the sections between those that hold one of the former are encoded by a tokenizer without control tokens,
 * `plainBy` a mark, which stands before a section that isn't the first (some tokenizers begin that one with a space).
 * White space that a control token strips from its section stays with the token, for `live` to drop.
 */
export function encodeQuoting(
  text: Str,
  control: ControlTokens,
  live: HfTokenizer,
  plainBy: (mark: string) => HfTokenizer,
): number[] {
  const rendered = plain(text);
  const encode = (by: HfTokenizer, words: string): number[] => by.encode(words, { add_special_tokens: false }).ids;
  const found = tokensIn(text, control);
  if (found.every(({ counts }) => counts)) return encode(live, rendered);
  const mark = markFor(rendered);
  const plainly = plainBy(mark);
  const ids: number[] = [];
  let done = 0;
  const section = (start: number, end: number, before: string, after: string): void => {
    const whole = rendered.slice(start, end);
    const from = control.rstrip.has(before) ? end - whole.trimStart().length : start;
    const to = control.lstrip.has(after) ? start + whole.trimEnd().length : end;
    const words = rendered.slice(from, to);
    if (from > done) append(ids, encode(live, rendered.slice(done, from)));
    append(ids, from === 0 ? encode(plainly, words) : encode(plainly, mark + words).slice(1));
    done = to;
  };
  let [at, last, quotes] = [0, '', false];
  for (const { token, start, counts } of [...found, { token: '', start: rendered.length, counts: true }]) {
    if (!counts) quotes = true;
    else {
      if (quotes) section(at, start, last, token);
      [at, last, quotes] = [start + token.length, token, false];
    }
  }
  return done < rendered.length ? [...ids, ...encode(live, rendered.slice(done))] : ids;
}

/** Noncharacters of Unicode that a text hasn't. */
function markFor(text: string): string {
  let mark = '\uFDD2';
  while (text.includes(mark)) mark += '\uFDD3';
  return mark;
}
