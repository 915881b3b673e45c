/** Added tokens: @huggingface/tokenizers finds and writes some of them in another way than Hugging Face's Rust library. */
import type { Tokenizer as HfTokenizer } from '@huggingface/tokenizers';

interface Added {
  readonly id: number;
  readonly content: string;
  readonly special: boolean;
  readonly normalized: boolean;
  readonly lstrip: boolean;
  readonly rstrip: boolean;
}

/** A part of a text: one of them, or what is between. */
interface Section {
  readonly text: string;
  readonly token: Added | undefined;
}

interface Splitter {
  split(text: string): readonly string[];
}

interface Decoder {
  (tokens: readonly string[]): string;
  readonly end_of_word_suffix?: string | undefined;
}

/** What the library has in it; its functions of texts are objects that can be called. */
interface Inner {
  readonly added_tokens: readonly Added[];
  /** By what is found in a text. */
  readonly added_tokens_map: Map<string, Added>;
  readonly splitter_unnormalized: Splitter;
  readonly splitter_normalized: Splitter;
  readonly normalizer: (text: string) => string;
  readonly pre_tokenizer: ((text: string, at: { readonly section_index: number }) => string[]) | null;
  readonly model: ((words: readonly string[]) => string[]) & { readonly tokens_to_ids: Map<string, number> };
  decoder: Decoder | null;
  encode_text(text: string | null): string[] | null;
  token_to_id(token: string): number | undefined;
}

/**
 * A token that is found in normalized text is known by its name alone: the vocabulary may have another of the text
 * that was found. The model makes tokens of its own `vocab` only. Next to a token that strips white space, tokens of white
 * space stay. What follows a token doesn't begin the text. Decoding writes a token as it is found.
 */
export function addedAsHuggingFace(tokenizer: HfTokenizer, vocab: unknown): void {
  const inner = tokenizer as unknown as Inner;
  const { added_tokens: added, added_tokens_map: names, normalizer, pre_tokenizer, model } = inner;
  const [asWritten, normalized] = [new Map<string, Added>(), new Map<string, Added>()];
  const decoded = new Map<string, string>();
  const own = ownAmong(new Set(added.map(({ content }) => content)), vocab);
  names.clear();
  for (const token of added) {
    const { content, special } = token;
    names.set(content, token);
    if (!own.has(content)) model.tokens_to_ids.delete(content);
    const found = token.normalized ? normalizer(content) : null;
    if (found === null) asWritten.set(content, token);
    else normalized.set(found, token);
    // A special token is left out by its name.
    if (found !== null && found !== content && !special) decoded.set(content, found);
  }
  const wordsOf = (text: string, section_index: number): string[] =>
    text === '' ? [] : model(pre_tokenizer === null ? [text] : pre_tokenizer(text, { section_index }));
  const encode = (text: string): string[] =>
    sectionsOf(text, inner.splitter_unnormalized, asWritten).flatMap(({ text: section, token }, at) => {
      if (token !== undefined) return token.content;
      if (section === '') return [];
      const parts = sectionsOf(normalizer(section), inner.splitter_normalized, normalized);
      return parts.flatMap(({ text: part, token }, i) => token?.content ?? wordsOf(part, at + i));
    });
  inner.encode_text = (text) => (text === null ? null : encode(text));
  inner.token_to_id = (token) => names.get(token)?.id ?? model.tokens_to_ids.get(token);
  if (decoded.size > 0) inner.decoder = decoderOf(inner.decoder, decoded);
}

/** Those of the names that a model's vocabulary has itself. */
function ownAmong(names: ReadonlySet<string>, vocab: unknown): ReadonlySet<string> {
  const words: readonly unknown[] = Array.isArray(vocab)
    ? vocab.map((entry) => (entry as readonly unknown[])[0])
    : [...names].filter((name) => Object.hasOwn((vocab ?? {}) as object, name));
  return new Set(words.filter((word): word is string => names.has(word as string)));
}

function decoderOf(decoder: Decoder | null, texts: ReadonlyMap<string, string>): Decoder {
  const decode = (tokens: readonly string[]): string => {
    const found = tokens.map((token) => texts.get(token) ?? token);
    return decoder === null ? found.join(' ') : decoder(found);
  };
  return Object.assign(decode, { end_of_word_suffix: decoder?.end_of_word_suffix });
}

function sectionsOf(text: string, splitter: Splitter, tokens: ReadonlyMap<string, Added>): readonly Section[] {
  const sections = splitter.split(text).map((part): Section => ({ text: part, token: tokens.get(part) }));
  return sections.map(({ text: part, token }, i) => {
    if (token !== undefined) return { text: part, token };
    const begun = sections[i - 1]?.token?.rstrip ? part.replace(/^\p{White_Space}+/u, '') : part;
    return { text: sections[i + 1]?.token?.lstrip ? trimmedEnd(begun) : begun, token };
  });
}

/** Not by `\s+$`, which takes quadratic time on long runs of spaces. */
function trimmedEnd(text: string): string {
  let end = text.length;
  while (end > 0 && /\p{White_Space}/u.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
